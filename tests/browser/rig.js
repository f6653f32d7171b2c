// What the page object asks of the notebook that is open in JupyterLab or Notebook 7.
// Needs window.jupyterapp (--expose-app-in-browser).
const rig = {
  outcome: null,
  ending: null,

  panels() {
    const widgets = [...(window.jupyterapp?.shell.widgets("main") ?? [])];
    return widgets.filter((widget) => widget.sessionContext && widget.content?.widgets);
  },

  panel: () => rig.panels()[0],

  isLab: () => window.jupyterapp?.name === "JupyterLab",

  // The page waits itself, for a second: each look from outside costs three processes more.
  async ready(find) {
    const end = Date.now() + 1000;
    while (Date.now() < end) {
      if (await rig.isReady(find())) return true;
      await rig.pause();
    }
    return false;
  },

  // The kernel indicator says "idle" before there is a kernel, so this asks the kernel.
  async isReady(panel) {
    if (!panel) return false;
    await panel.context.ready;
    await panel.sessionContext.ready;
    const kernel = panel.sessionContext.session?.kernel;
    if (kernel?.connectionStatus !== "connected") return false;
    await kernel.info;
    if (kernel.status !== "idle") return false;
    // While ipywidgets still asks a kernel which widgets it has, new ones may come twice and fail.
    return (await rig.manager(panel))?.restoredStatus ?? false;
  },

  // What ipywidgets knows of a notebook.
  async manager({ content: { rendermime } }) {
    const kind = "application/vnd.jupyter.widget-view+json";
    if (!rendermime.getFactory(kind)) return null;
    const renderer = rendermime.createRenderer(kind);
    const manager = await renderer._manager.promise;
    renderer.dispose();
    return manager;
  },

  // Each kernel brings its own module into the page, and until it is there a click overtakes keys.
  // It is the model that has the kernel's `key`. Where anywidget is missing, it never comes.
  async hasModule(panel) {
    const manager = await rig.manager(panel);
    for (const promise of Object.values(manager?._models ?? {})) {
      const model = await promise.catch(() => null);
      if (model?.constructor.model_name !== "AnyModel" || !model.get("key")) continue;
      while (model.comm_live && !model.get("layout")._events?.["msg:custom"]) await rig.pause();
    }
  },

  pause: () => new Promise((resolve) => setTimeout(resolve, 50)),

  isLoading(panel) {
    const outputs = panel.content.widgets.flatMap((cell) => [
      ...cell.node.querySelectorAll(".jp-OutputArea-output"),
    ]);
    return outputs.some((output) => output.textContent === "Loading widget...");
  },

  // ipywidgets looks for a missing model for two seconds, even when the notebook is closed, and
  // then writes an error to the console: by then of another notebook. Without a kernel it says
  // that it loads for ever, and writes nothing.
  async loaded(panel) {
    const hasKernel = () => panel.sessionContext.session?.kernel?.connectionStatus === "connected";
    while (rig.isLoading(panel) && hasKernel()) await rig.pause();
  },

  // Playwright awaits a promise without limit, and some here never settle.
  soon(promise) {
    const late = new Promise((resolve) => setTimeout(() => resolve(false), 1000));
    return Promise.race([promise, late]);
  },

  // Starts what may take long; `outcome` tells when it is done, and `ending` waits for that.
  begin(start) {
    rig.outcome = null;
    rig.ending = start().then(() => "done", String);
    void rig.ending.then((outcome) => (rig.outcome = outcome));
  },

  // What a kernel says that answers nothing more; one that the test itself ended is not meant.
  death() {
    const status = rig.panel()?.sessionContext.session?.kernel?.status;
    return ["dead", "autorestarting"].includes(status) ? `The kernel is ${status}.` : null;
  },

  // In the page that is open already.
  open: (path) => rig.begin(() => window.jupyterapp.commands.execute("docmanager:open", { path })),

  clear: () => rig.begin(async () => {
    for (const panel of rig.panels()) await rig.close(panel);
    await rig.tidy();
  }),

  async close(panel) {
    await rig.loaded(panel);
    await panel.sessionContext.shutdown();
    panel.context.model.dirty = false; // else it asks whether to save
    panel.dispose();
  },

  // What tests do to the page around a notebook.
  async tidy() {
    const { commands, shell } = window.jupyterapp;
    shell.expandLeft();
    if (document.body.dataset.jpThemeLight !== "true")
      await commands.execute("apputils:change-theme", { theme: "JupyterLab Light" });
  },

  // Puts cells in the place of those of the first notebook; its kernel runs `code` and goes on.
  replace: (cells, code) => rig.begin(async () => {
    const [panel, ...others] = rig.panels();
    for (const other of others) await rig.close(other);
    await rig.loaded(panel);
    const { sharedModel } = panel.content.model;
    sharedModel.transact(() => {
      sharedModel.deleteCellRange(0, sharedModel.cells.length);
      sharedModel.insertCells(0, cells);
    });
    window.jupyterapp.shell.activateById(panel.id);
    panel.content.mode = "command";
    const { kernel } = panel.sessionContext.session;
    const { content } = await kernel.requestExecute({ code, store_history: false }).done;
    if (content.status !== "ok") throw new Error(`${content.ename}: ${content.evalue}`);
    await rig.tidy();
  }),

  run: (command) => rig.begin(async () => {
    await window.jupyterapp.commands.execute(command);
    await rig.hasModule(rig.panel());
  }),

  runCell(index) {
    rig.panel().content.activeCellIndex = index;
    rig.run("notebook:run-cell");
  },

  runAll: () => rig.run("notebook:run-all-cells"),
  save: () => rig.begin(() => rig.panel().context.save()),
  interrupt: () => rig.soon(rig.panel().sessionContext.session.kernel.interrupt()),
  shutdown: () => rig.soon(Promise.all(rig.panels().map((panel) => panel.sessionContext.shutdown()))),
  cells: () => rig.panel().content.model.toJSON().cells,
};
window.rig = rig;
