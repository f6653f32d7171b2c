// A page with a kernel and the widget manager of another front end, without the rest of that front end.
// `managers.open(name, settings)` starts both; `managers.run(code)` runs a cell and shows its widgets.
import { KernelManager, ServerConnection } from "@jupyterlab/services";

const VIEW = "application/vnd.jupyter.widget-view+json";
const modules = (...names) => new Promise((resolve, reject) => requirejs(names, (...all) => resolve(all), reject));

// VS Code's webview does with its manager what is done here: load(), a script loader, create_view, display_view.
async function vscode(kernel) {
  const bundle = await import("./jupyter-ipywidgets8/dist/ipywidgets.js");
  bundle.activate();
  window.vscIPyWidgets8.load();
  const loader = {
    widgetsRegisteredInRequireJs: new Set(),
    loadWidgetScript: async () => {}, // requirejs has the path
    errorHandler: (name, module, version, error) => console.error(`${module} ${version}: ${error}`),
    successHandler: () => {},
  };
  const manager = new window.vscIPyWidgets.WidgetManager(kernel, document.body, loader, () => {});
  return async (data, node) => {
    const view = await manager.create_view(await manager.get_model(data.model_id), { el: node });
    await manager.display_view(data, view, { node });
  };
}

// The manager for pages outside of notebooks, as its documentation connects it with a kernel.
async function html(kernel) {
  requirejs.config({ paths: { embedded: "html-manager/dist/libembed-amd" } });
  await modules("embedded");
  const [{ HTMLManager }, { shims }] = await modules("@jupyter-widgets/html-manager", "@jupyter-widgets/base");
  class KernelManagerOfPage extends HTMLManager {
    async _create_comm(target, id, data, metadata, buffers) {
      const comm = kernel.createComm(target, id);
      if (data || metadata) comm.open(data, metadata, buffers);
      return new shims.services.Comm(comm);
    }

    async _get_comm_info() {
      return (await kernel.requestCommInfo({ target_name: this.comm_target_name })).content.comms;
    }
  }
  const manager = new KernelManagerOfPage({ loader: async (name) => (await modules(name))[0] });
  kernel.registerCommTarget(manager.comm_target_name, (comm, message) =>
    manager.handle_comm_open(new shims.services.Comm(comm), message),
  );
  return async (data, node) => {
    const view = await manager.create_view(await manager.get_model(data.model_id));
    await manager.display_view(view, node);
  };
}

// An answer that never comes fails the test instead of holding it for ever.
const soon = (work) =>
  Promise.race([work, new Promise((_, reject) => setTimeout(() => reject(new Error("no answer after 60 s")), 60_000))]);

const STARTS = { vscode, html };

window.managers = {
  async open(name, { url, token }) {
    const serverSettings = ServerConnection.makeSettings({ baseUrl: url, wsUrl: url.replace("http", "ws"), token });
    this.kernel = await soon(new KernelManager({ serverSettings }).startNew({ name: "python3" }));
    this.show = await soon(STARTS[name](this.kernel));
  },

  async run(code) {
    const texts = [];
    const request = this.kernel.requestExecute({ code });
    request.onIOPub = ({ header, content }) => {
      if (content.data?.[VIEW]) {
        this.show(content.data[VIEW], document.body.appendChild(document.createElement("div")));
      } else if (header.msg_type === "error") {
        texts.push(`${content.ename}: ${content.evalue}`);
      } else {
        texts.push(content.text ?? content.data?.["text/plain"] ?? "");
      }
    };
    await soon(request.done);
    return texts.join("");
  },

  close() {
    return this.kernel?.shutdown();
  },
};
