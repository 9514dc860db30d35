/**
 * Imported first by every process of the demo but the main one. When the main one is gone, however
 * it ended, the channel to it closes, and this process ends.
 */
process.once("disconnect", () => process.exit());

// Ctrl-C reaches the whole group; the main process decides who ends when.
process.on("SIGINT", () => undefined);
