import { describe, expect, it } from "vitest";
import { binaryCloudEvent, plainMessage, structuredCloudEvent } from "./cloud-event-message.js";
import { testEnvelope } from "./test-emission.js";

const bytes = Uint8Array.of(0, 255, 10, 200);
const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

const structured = (changes: Parameters<typeof testEnvelope>[0]) =>
  JSON.parse(String(structuredCloudEvent(testEnvelope(changes)).body)) as Record<string, unknown>;

describe("structuredCloudEvent", () => {
  it("puts the whole event into one JSON document", () => {
    const { headers, body } = structuredCloudEvent(
      testEnvelope({ dataSchema: "https://shop.test/order.json", traceparent }),
    );
    expect(headers).toEqual({ "content-type": "application/cloudevents+json; charset=utf-8" });
    expect(JSON.parse(String(body))).toEqual({
      specversion: "1.0",
      id: "envelope-1",
      source: "/shop",
      type: "order.placed",
      subject: "order-1",
      time: "2026-03-04T05:06:07.089Z",
      dataschema: "https://shop.test/order.json",
      datacontenttype: "application/json",
      traceparent,
      data: { orderId: "order-1", totalCents: 4_200 },
    });
  });

  it("leaves out attributes that are not set", () => {
    expect(Object.keys(structured({ subject: null }))).toEqual([
      "specversion",
      "id",
      "source",
      "type",
      "time",
      "datacontenttype",
      "data",
    ]);
  });

  it("carries bytes as Base64, of the view and not of the buffer behind it", () => {
    const payload = bytes.subarray(1, 3);
    const event = structured({ payload, dataContentType: "application/octet-stream" });
    expect(event).toMatchObject({ data_base64: Buffer.from([255, 10]).toString("base64") });
    expect(event).not.toHaveProperty("data");
  });

  it.each<[string, unknown, string, unknown]>([
    ["a string as JSON", "text", "application/json", "text"],
    ["null as JSON", null, "application/json", null],
    ["JSON of a vendor's type", [1], "application/vnd.shop+json; charset=utf-8", [1]],
    ["text of another type", "<order/>", "application/xml", "<order/>"],
  ])("carries %s", (_, payload, dataContentType, data) => {
    expect(structured({ payload, dataContentType })).toMatchObject({ data });
  });

  it("has no data where there is none and its type is not JSON", () => {
    expect(structured({ payload: null, dataContentType: "text/plain" })).not.toHaveProperty("data");
  });
});

describe("binaryCloudEvent", () => {
  it("puts the payload into the body and everything else into headers", () => {
    expect(binaryCloudEvent(testEnvelope({ subject: "Bestellung № 1", traceparent }))).toEqual({
      headers: {
        "ce-specversion": "1.0",
        "ce-id": "envelope-1",
        "ce-source": "/shop",
        "ce-type": "order.placed",
        "ce-subject": "Bestellung%20%E2%84%96%201",
        "ce-time": "2026-03-04T05:06:07.089Z",
        "ce-traceparent": traceparent,
        "content-type": "application/json",
      },
      body: '{"orderId":"order-1","totalCents":4200}',
    });
  });

  it("sends bytes and text as they are", () => {
    const dataContentType = "application/octet-stream";
    expect(binaryCloudEvent(testEnvelope({ payload: bytes, dataContentType })).body).toBe(bytes);
    expect(
      binaryCloudEvent(testEnvelope({ payload: "<a/>", dataContentType: "text/xml" })).body,
    ).toBe("<a/>");
  });
});

describe("plainMessage", () => {
  it("sends the payload alone", () => {
    expect(plainMessage(testEnvelope())).toEqual({
      headers: { "content-type": "application/json" },
      body: '{"orderId":"order-1","totalCents":4200}',
    });
  });

  it("parks a payload that its media type cannot carry", () => {
    const envelope = testEnvelope({ payload: { a: 1 }, dataContentType: "text/plain" });
    expect(() => plainMessage(envelope)).toThrow(
      expect.objectContaining({ code: "http.unencodable_payload" }),
    );
  });

  it("parks a media type that no header can carry", () => {
    const envelope = testEnvelope({ payload: "a", dataContentType: "text/plain\r\nx: y" });
    expect(() => plainMessage(envelope)).toThrow(
      expect.objectContaining({ code: "http.invalid_content_type" }),
    );
  });
});
