// A chat that draws the view of a tool of its own server, as the specification of MCP Apps asks:
// the official client and bridge, a sandboxed frame, and the default policy for its content.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { AppBridge, getToolUiResourceUri, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

const POLICY = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self'
  'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; connect-src 'none'">`;

// Opens the view of `tool`, calls the tool, and hands the view its result. `context` is what the
// host tells of itself: theme, locale. What the view tells the model is in `window.told`.
window.openView = async (tool, given, context, capabilities) => {
  const client = new Client({ name: "host", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL("/gradio_api/mcp", location.origin)));
  const { tools } = await client.listTools();
  const uri = getToolUiResourceUri(tools.find((each) => each.name === tool));
  const { contents: [view] } = await client.readResource({ uri });
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.title = view.uri;
  document.body.replaceChildren(frame);
  const bridge = new AppBridge(client, { name: "host", version: "1.0.0" }, capabilities, { hostContext: context });
  bridge.onsizechange = ({ height }) => { frame.style.height = `${height}px`; };
  window.told = [];
  bridge.onupdatemodelcontext = async ({ content }) => { window.told.push(content[0].text); return {}; };
  const ready = new Promise((resolve) => { bridge.oninitialized = resolve; });
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  frame.srcdoc = view.text.replace("<head>", `<head>${POLICY}`);
  await ready;
  await bridge.sendToolInput({ arguments: given });
  const result = await client.callTool({ name: tool, arguments: given });
  await bridge.sendToolResult(result);
  window.host = { client, bridge };
  return { game: result.structuredContent, mimeType: view.mimeType };
};
