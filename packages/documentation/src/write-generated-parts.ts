import { writeGeneratedParts } from "./generated-parts.js";

writeGeneratedParts();
