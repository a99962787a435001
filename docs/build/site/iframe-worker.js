// The search runs in a worker, and a browser starts no worker for a page from the disk. There, a hidden frame takes its place:
// the frame loads the same script, and messages go in and out as they do with a worker.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = Object.assign(document.createElement("iframe"), { hidden: true, title: "Search" });
      document.body.append(frame);
      const inside = this.inside = frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = Object.assign(inside.document.createElement("script"), { src: new URL(address, location) });
      this.ready = new Promise((loaded) => { script.onload = loaded; });
      inside.document.body.append(script);
    }

    async postMessage(data) {
      await this.ready;
      this.inside.dispatchEvent(new MessageEvent("message", { data }));
    }
  };
}
