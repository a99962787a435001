fetch("/api/data").then((reply) => reply.json()).then((data) => {
  byId("words").textContent = data.words || `${data.images} images`;
  for (let at = 0; at < Math.min(60, data.images || 0); at += 1) {
    byId("grid").append(element("img", { src: `/thumb?at=${at}&side=320`, alt: `image ${at}`, loading: "lazy" }));
  }
});
