/** Puts the built script and style into the page itself, and their hashes into its content security policy. */
import { createHash } from "node:crypto";
import type { Plugin } from "vite";

const POLICY_MARK = "%POLICY%";

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;
}

/** A page that may run this script and this style, show inlined images, and ask nothing of any network. */
function policy(script: string, style: string): string {
  return [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
}

export function singleFile(): Plugin {
  return {
    name: "dyno-single-file",
    apply: "build",
    enforce: "post",
    generateBundle(_options, bundle) {
      let script = "";
      let style = "";
      let page = "";
      for (const [name, output] of Object.entries(bundle)) {
        if (output.type === "chunk") script += output.code;
        else if (name.endsWith(".css")) style += text(output.source);
        else if (name.endsWith(".html")) page = text(output.source);
        else throw new Error(`the build left a file that a single page cannot carry: ${name}`);
        if (!name.endsWith(".html")) Reflect.deleteProperty(bundle, name);
      }
      // An inlined script ends at the first "</script", wherever it stands.
      script = script.replaceAll("</script", "<\\/script").trim();
      style = style.trim();
      const bare = page.replace(/\s*<(script type="module"|link rel="stylesheet")[^>]*>(<\/script>)?/g, "");
      if (!bare.includes(POLICY_MARK)) throw new Error(`index.html lacks ${POLICY_MARK}`);
      // Replacer functions: a "$" in the bundle must stay what it is.
      const whole = bare
        .replace(POLICY_MARK, () => policy(script, style))
        .replace("</head>", () => `  <style>${style}</style>\n  </head>`)
        .replace("</body>", () => `  <script type="module">${script}</script>\n  </body>`);
      this.emitFile({ type: "asset", fileName: "index.html", source: whole });
    },
  };
}

function text(source: string | Uint8Array): string {
  return typeof source === "string" ? source : new TextDecoder().decode(source);
}
