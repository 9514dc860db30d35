import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** Ids of the processes whose command line, or title, has `text` in it; for tests. */
export function processesMentioning(text: string): number[] {
  return process.platform === "linux" ? fromProc(text) : fromPs(text);
}

/** Small Linux images have no `ps`. */
function fromProc(text: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && commandLine(name).includes(text))
    .map(Number);
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}

function fromPs(text: string): number[] {
  return execFileSync("ps", ["-axww", "-o", "pid=,args="], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.includes(text))
    .map((line) => Number.parseInt(line, 10));
}
