import { defineConfig } from "vitest/config";
import { singleFile } from "./tools/singlefile.ts";

export default defineConfig({
  plugins: [singleFile()],
  build: {
    target: "es2023",
    assetsInlineLimit: Number.MAX_SAFE_INTEGER,
    cssCodeSplit: false,
    modulePreload: false,
  },
  test: { include: ["test/**/*.test.ts"] },
});
