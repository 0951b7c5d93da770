"use strict";
(async () => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const charts = read("charts"), choice = read("choice"), views = {};
  // The interpreter of expressions needs no eval, which the policy refuses; Vega reads nothing from anywhere.
  const options = {
    ast: true, actions: false, renderer: "svg", defaultStyle: false, tooltip: { disableDefaultStyle: true },
    loader: { load: () => Promise.reject(new Error("nothing is loaded")) },
  };
  const number = (value) => Number(value.toPrecision(4)).toString();
  const slider = document.getElementById("alpha");
  const rows = (key) => [...document.querySelectorAll(`#${key} tbody tr`)];

  function show(alpha) {
    const lines = choice.lines.filter((line) => line.qf !== null && line.qnf !== null)
      .map((line) => ({ ...line, q: line.qf + alpha * line.qnf }));
    // As the build chooses: the highest Q, and of equal ones the largest k, then the weakest effort.
    const able = lines.filter((line) => line.qualifies);
    const most = Math.max(...able.map((line) => line.q));
    const best = able.filter((line) => line.q >= most - 1e-12 * (1 + Math.abs(most)))
      .sort((a, b) => b.k - a.k || a.effort - b.effort)[0] || null;
    // What the build chose is what its results say; another alpha would move only what is chosen by Q.
    const isMoved = alpha !== choice.alpha && choice.rule === "max_q" && choice.released !== null;
    const marked = isMoved ? best && best.effort : choice.released;
    const untouched = lines.find((line) => line.effort === 0);
    document.getElementById("alpha-value").textContent = number(alpha);
    slider.setAttribute("aria-valuetext", `alpha ${number(alpha)}` + (marked === null ? "" : `, effort ${marked}`));
    const said = [];
    if (best) {
      const rule = choice.rule !== "max_q" ? "has the highest Q, but the release is not chosen by Q"
        : marked === best.effort ? "is chosen" : "has the highest Q, but the build chose " +
          (marked === null ? "none" : `effort ${marked}`);
      said.push(`At alpha ${number(alpha)}, effort ${best.effort} ${rule}: Q = ${number(best.q)}.`);
      const range = choice.ranges.find((r) => alpha >= r.from && (r.to === null || alpha <= r.to));
      if (range && range.effort === best.effort) {
        said.push(`So it is for every alpha from ${number(range.from)}` +
          (range.to === null ? " on." : ` to ${number(range.to)}.`));
      }
      if (untouched && untouched.q > best.q) {
        said.push("The untouched table has a higher Q, so no effort is worth what it costs.");
      }
      if (alpha === choice.alpha && best.effort === marked && best.share !== null) {
        said.push(`If repetitions are drawn again, it is chosen in ${(best.share * 100).toFixed(1)} %.`);
      }
    }
    if (choice.released === null) {
      said.push(choice.verdict);
    }
    document.getElementById("alpha-choice").textContent = said.join(" ");
    document.getElementById("alpha-choice").dataset.effort = marked === null ? "" : marked;
    rows("ranges").forEach((row, place) => {
      const range = choice.ranges[place];
      row.classList.toggle("now", alpha >= range.from && (range.to === null || alpha < range.to));
    });
    const bySheet = new Map(lines.map((line) => [String(line.effort), line]));
    rows("quality").forEach((row) => {
      const line = bySheet.get(row.cells[0].textContent);
      if (line) row.cells[6].textContent = number(line.q);
      row.classList.toggle("now", Boolean(line) && line.effort === marked);
    });
    if (views.quality) {
      views.quality.signal("alpha", alpha).signal("chosen", marked === null ? -1 : marked).runAsync();
    }
  }

  const chosenAlpha = () => (Number(slider.value) === choice.start ? choice.alpha : Number(slider.value) * choice.step);
  if (slider) {
    slider.addEventListener("input", () => show(chosenAlpha()));
    document.getElementById("alpha-reset").addEventListener("click", () => {
      slider.value = choice.start;
      show(choice.alpha);
    });
  }
  // Narrows what has a width, and puts charts of a row below each other, where the screen is narrow.
  const narrowed = (spec, by) => {
    if (Array.isArray(spec)) return spec.map((part) => narrowed(part, by));
    if (spec === null || typeof spec !== "object") return spec;
    return Object.fromEntries(Object.entries(spec).map(([name, value]) => [name,
      name === "width" && typeof value === "number" ? Math.max(150, value - by)
        : name === "columns" ? 1 : name === "data" || name === "datasets" ? value : narrowed(value, by)]));
  };
  const main = document.querySelector("main");
  const ready = {};
  let drawnFor = 0;
  async function draw() {
    const room = main.clientWidth - 4;
    drawnFor = main.clientWidth;
    for (const [key, spec] of Object.entries(charts)) {
      // The element has a label of its own, and a table below: what Vega would say of every mark is noise.
      const place = document.getElementById(`chart-${key}`);
      let config = { ...spec, config: { ...spec.config, aria: false, background: null } };
      for (let tries = 0; tries < 3; tries += 1) {
        if (ready[key]) ready[key].finalize();
        ready[key] = await vegaEmbed(place, config, options);
        views[key] = ready[key].view;
        const wide = Number(place.querySelector("svg").getAttribute("width"));
        if (wide <= room) break;
        config = narrowed(config, wide - room);
      }
      place.querySelector("svg").setAttribute("aria-hidden", "true");
    }
    if (slider) show(chosenAlpha());
  }
  await draw();
  let waiting = 0;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { if (main.clientWidth !== drawnFor) draw(); }, 150);
  });
  // What a link leads to is unfolded.
  const unfold = () => {
    const part = document.getElementById(location.hash.slice(1))?.querySelector("details.part");
    if (part) part.open = true;
  };
  window.addEventListener("hashchange", unfold);
  unfold();
  document.documentElement.dataset.ready = "yes";
})();
