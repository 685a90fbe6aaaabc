"use strict";
// What a page does beside showing its text: charts, hover, sorting and filters. Plain JavaScript, nothing is fetched.
//
// The element #data has JSON: `configurations` (parameters, measures, rows) and `timelines` (kinds, steps, lanes of each). Names in it are
// somebody else's: they become text nodes and attributes' values, never markup. Whole numbers that a double would round are text.
(() => {
  const svgSpace = "http://www.w3.org/2000/svg";

  // An element with attributes and children; strings become text nodes.
  const filled = (element, attributes, inside) => {
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...inside);
    return element;
  };
  const html = (name, attributes = {}, ...inside) => filled(document.createElement(name), attributes, inside);
  const svg = (name, attributes = {}, ...inside) => filled(document.createElementNS(svgSpace, name), attributes, inside);
  const text = (x, y, content, anchor = "middle", kind = "tick") =>
    svg("text", { x, y, "text-anchor": anchor, "dominant-baseline": "central", class: kind }, content);
  const on = (element, event, act) => (element.addEventListener(event, act), element);
  const option = (value, content) => html("option", { value }, content);

  // Numbers for people: groups of three digits from five digits on, and four digits that count.
  const groups = (digits) => (digits.replace("-", "").length < 5 ? digits : digits.replace(/\B(?=(\d{3})+$)/g, ","));
  const shown = (number) => {
    if (number === null || number === undefined) return "-";
    if (typeof number === "string" || Number.isInteger(number)) return groups(String(number));
    if (String(number).length < 5) return String(number);
    const digits = Math.floor(Math.log10(Math.abs(number))) + 1;
    const [whole, part] = number.toFixed(Math.min(9, Math.max(0, 4 - digits))).split(".");
    return groups(whole) + (part ? "." + part : "");
  };
  const percent = (share) => (100 * share).toFixed(share < 0.1 ? 1 : 0) + " %";
  // Roughly how many pixels a text takes in a chart.
  const wide = (content) => content.length * 7.4;

  // Hover: marks say what they are when the pointer is over them, or when they are touched.
  const tip = html("div", { id: "tip", hidden: "" });
  const tells = new WeakMap();
  const telling = (mark, say) => (tells.set(mark, say), mark);
  const tell = (event) => {
    const say = tells.get(event.target);
    tip.hidden = !say;
    if (!say) return;
    tip.textContent = say();
    const { width, height } = tip.getBoundingClientRect();
    const left = Math.min(event.clientX + 14, document.documentElement.clientWidth - width - 6);
    const below = event.clientY + 16;
    tip.style.left = Math.max(4, left) + "px";
    tip.style.top = (below + height < window.innerHeight ? below : Math.max(4, event.clientY - height - 12)) + "px";
  };

  // A scale from numbers to pixels, logarithmic where the numbers are above 0 and far apart or `always`.
  const scale = (numbers, from, to, always = false) => {
    let least = Infinity, most = -Infinity;
    for (const n of numbers) { least = Math.min(least, n); most = Math.max(most, n); }
    const log = least > 0 && (always || most / least > 8);
    const place = log ? Math.log : (n) => n;
    const span = place(most) - place(least);
    const at = (n) => (span > 0 ? from + ((place(n) - place(least)) / span) * (to - from) : (from + to) / 2);
    const ticks = (apart) => {
      const all = [least, most];
      const far = (n) => all.every((other) => Math.abs(at(other) - at(n)) >= apart);
      const steps = log ? [1, 2, 5] : [];
      for (const digit of steps)
        for (let power = Math.floor(Math.log10(least)); power <= Math.log10(most); power++) {
          const n = Number((digit * 10 ** power).toPrecision(1));
          if (n > least && n < most && far(n)) all.push(n);
        }
      if (!log && span > 0) {
        const step = [1, 2, 5, 10].map((d) => d * 10 ** Math.floor(Math.log10(span / 4))).find((s) => s >= span / 5);
        // By an index: a small step does not move a large number.
        for (let i = 0, first = Math.ceil(least / step) * step; i < 32 && first + i * step < most; i++) {
          const n = first + i * step;
          if (far(n)) all.push(Number(n.toPrecision(12)));
        }
      }
      return span > 0 ? all : [least];
    };
    return { at, ticks, least, most, share: (n) => (span > 0 ? (place(n) - place(least)) / span : 0) };
  };

  // Viridis: keeps its order in grey and for colour-blind readers.
  const viridis = [[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99], [170, 220, 50], [253, 231, 37]];
  const shade = (share) => {
    const place = Math.min(1, Math.max(0, share)) * (viridis.length - 1);
    const low = Math.min(viridis.length - 2, Math.floor(place));
    return viridis[low].map((c, i) => Math.round(c + (viridis[low + 1][i] - c) * (place - low)));
  };
  const colour = (share) => `rgb(${shade(share).join(" ")})`;
  const inkOn = (share) => { const [r, g, b] = shade(share); return 0.3 * r + 0.59 * g + 0.11 * b > 140 ? "#000" : "#fff"; };

  const redraws = [];
  const chart = (width, height, about) => svg("svg", { class: "chart", width, height, role: "img", "aria-label": about });

  // Tables that are in the page already: sorted by the text of their cells, numbers as numbers.
  const sortable = (table) => {
    const body = table.tBodies[0];
    const key = (row, column) => {
      const content = row.cells[column].textContent.trim();
      const number = parseFloat(content.replace(/,/g, ""));
      return /^[-\d]/.test(content) && !Number.isNaN(number) ? number : content;
    };
    headers(table, (column, down) => {
      const rows = [...body.rows].map((row) => [key(row, column), row]);
      rows.sort(([a], [b]) => compared(a, b, down));
      body.append(...rows.map(([, row]) => row));
    });
  };
  // Numbers before texts, what is missing last, whichever way.
  const compared = (a, b, down) => {
    const rank = (n) => (n === null || n === "-" || n === "" ? 2 : typeof n === "number" ? 0 : 1);
    if (rank(a) !== rank(b)) return rank(a) - rank(b);
    const order = a < b ? -1 : a > b ? 1 : 0;
    return down ? -order : order;
  };
  // Makes a button of each header that has a text.
  const headers = (table, sort) => {
    const cells = [...table.tHead.rows[0].cells];
    cells.forEach((cell, column) => {
      if (!cell.textContent.trim()) return;
      const button = html("button", { type: "button", title: "sort" }, cell.textContent);
      cell.replaceChildren(button);
      on(button, "click", () => {
        const down = cell.getAttribute("aria-sort") === "ascending";
        cells.forEach((other) => other.removeAttribute("aria-sort"));
        cell.setAttribute("aria-sort", down ? "descending" : "ascending");
        sort(column, down);
      });
    });
  };

  // All about configurations.
  const configurations = (section, { parameters, measures, over, roofline, rows, drawn: sampled, indifferent }) => {
    const number = (row, measure) => {
      const n = row.numbers[measure];
      return n === null || n === undefined ? null : Number(n);
    };
    const distinct = (of, parameter) => [...new Set(of.map((row) => row.values[parameter]))].sort((a, b) => a - b);
    const domains = parameters.map((_, p) => distinct(rows, p));
    const varying = parameters.map((_, p) => p).filter((p) => domains[p].length > 1);
    const drawn = measures.map((_, m) => m).filter((m) => measures[m].best && rows.some((row) => number(row, m) !== null));
    const said = (row) => [
      ...measures.map(({ name }, m) => `${name}: ${shown(row.numbers[m])}`),
      ...(row.binds ? [`floor by: ${row.binds}`] : []),
      ...parameters.map((name, p) => `${name} = ${shown(row.values[p])}`),
      ...(row.note ? [row.note] : []),
    ].join("\n");

    const state = { filters: new Map(), x: null, y: null, measure: drawn[0] ?? 0, sort: 0, down: false, rows: 100 };
    state.down = measures[0].best === "greatest";
    const better = (a, b) => (measures[state.measure].best === "greatest" ? a > b : a < b);
    let kept = rows;
    const best = (of, measure = state.measure) => of.reduce((found, row) => {
      const n = number(row, measure);
      return n !== null && (found === null || better(n, number(found, measure))) ? row : found;
    }, null);
    // The best row for each value of some parameters.
    const bestBy = (of, key) => {
      const all = new Map();
      for (const row of of) {
        const n = number(row, state.measure);
        if (n === null) continue;
        const k = key(row), other = all.get(k);
        if (!other || better(n, number(other, state.measure))) all.set(k, row);
      }
      return all;
    };
    // How far apart the best and the worst value of a parameter are, everything else at its best: a ratio less 1.
    const effect = (p) => {
      if (indifferent.includes(p)) return 0;
      const each = [...bestBy(kept, (row) => row.values[p]).values()].map((row) => number(row, state.measure));
      const [low, high] = [Math.min(...each), Math.max(...each)];
      return low > 0 ? high / low - 1 : high > low ? Infinity : 0;
    };
    const matters = (p) => {
      const far = effect(p), here = sampled ? " here" : "";
      if (indifferent.includes(p)) return ": no time depends on it";
      if (far === 0) return ": each value reaches the best";
      return measures[state.measure].best === "greatest"
        ? `: its worst value reaches ${percent(1 / (1 + far))} of the best${here}` : `: its worst value costs ${far < 9 ? percent(far) + " more" : shown(1 + far) + " times as much"}${here}`;
    };
    const ranked = [...varying].sort((a, b) => effect(b) - effect(a) || domains[b].length - domains[a].length);
    [state.x, state.y = null] = ranked.slice(0, 2).sort((a, b) => a - b);

    // Controls.
    const controls = html("div", { class: "controls", id: "filters" });
    const total = html("span", { id: "count", class: "faint" });
    const selects = new Map();
    for (const p of varying) {
      const select = html("select", { "data-parameter": p }, option("", "all"), ...domains[p].map((v) => option(v, shown(v))));
      on(select, "change", () => {
        if (select.value === "") state.filters.delete(p); else state.filters.set(p, Number(select.value));
        update();
      });
      selects.set(p, select);
      controls.append(html("label", {}, parameters[p], select));
    }
    const reset = on(html("button", { type: "button" }, "all"), "click", () => {
      state.filters.clear();
      selects.forEach((select) => { select.value = ""; });
      update();
    });
    controls.append(reset, total);

    // Heat map.
    const heat = html("div", { id: "heat" });
    const axis = (which, others) => {
      const select = html("select", { "data-axis": which }, ...others.map((p) => option(p, parameters[p])));
      select.value = state[which];
      on(select, "change", () => {
        const old = state[which];
        state[which] = Number(select.value);
        // Never the same twice: the axes change places.
        if (state.x === state.y) state[which === "x" ? "y" : "x"] = old;
        axes.forEach(([name, control]) => { control.value = state[name]; });
        drawHeat();
      });
      return select;
    };
    const axes = state.x === undefined ? [] : (state.y === null ? ["x"] : ["x", "y"]).map((name) => [name, axis(name, varying)]);
    const measure = html("select", { id: "measure" }, ...drawn.map((m) => option(m, measures[m].name)));
    on(measure, "change", () => { state.measure = Number(measure.value); update(); });
    const heatChart = html("div"), heatCaption = html("figcaption");
    const drawHeat = () => {
      const width = heatChart.clientWidth, { x, y } = state;
      const [columns, lines] = [distinct(kept, x), y === null ? [0] : distinct(kept, y)];
      const cells = bestBy(kept, (row) => row.values[x] + " " + (y === null ? 0 : row.values[y]));
      const greatest = measures[state.measure].best === "greatest";
      const others = varying.filter((p) => p !== x && p !== y && !state.filters.has(p)).map((p) => parameters[p]);
      const open = others.length ? `: the ${greatest ? "greatest" : "least"} over ${others.join(", ")}` : "";
      heatCaption.replaceChildren(html("b", {}, measures[state.measure].name), open);
      const labels = y === null ? [""] : lines.map(shown);
      const left = 14 + Math.max(...labels.map(wide)) + (y === null ? 0 : 18);
      const w = Math.min(110, (width - left - 6) / columns.length);
      const h = Math.min(40, Math.max(4, 420 / lines.length));
      const right = left + w * columns.length, bottom = h * lines.length + 4;
      const image = chart(width, bottom + 86, `${measures[state.measure].name} over two parameters`);
      const numbers = [...cells.values()].map((row) => number(row, state.measure));
      const values = scale(numbers, 0, 1);
      const share = (n) => (greatest ? 1 - values.share(n) : values.share(n));
      const top = best(kept), gap = Math.min(w, h) >= 8 ? 1 : 0;
      const rings = [];
      // Of very many cells those are drawn that have a configuration.
      const sparse = columns.length * lines.length > 20000;
      const places = (all) => new Map(all.map((value, i) => [value, i]));
      const [ofColumn, ofLine] = [places(columns), places(lines)];
      const each = (draw) => {
        if (!sparse) lines.forEach((v, j) => columns.forEach((u, i) => draw(v, j, u, i)));
        else for (const row of cells.values()) {
          const [u, v] = [row.values[x], y === null ? 0 : row.values[y]];
          draw(v, ofLine.get(v), u, ofColumn.get(u));
        }
      };
      each((v, j, u, i) => {
        const row = cells.get(u + " " + v);
        const place = { x: left + i * w, y: bottom - (j + 1) * h, width: Math.max(0.5, w - gap), height: h - gap };
        const at = `${parameters[x]} = ${shown(u)}` + (y === null ? "" : `, ${parameters[y]} = ${shown(v)}`);
        if (!row) {
          image.append(telling(svg("rect", { ...place, class: "none" }), () => `${at}\nno configuration here`));
          return;
        }
        const n = number(row, state.measure);
        image.append(telling(svg("rect", { ...place, fill: colour(share(n)), class: "cell" }), () => said(row)));
        const label = shown(row.numbers[state.measure]);
        if (wide(label) + 4 <= w && h >= 17) {
          const mark = text(place.x + w / 2, place.y + h / 2, label, "middle", "");
          mark.setAttribute("style", `fill: ${inkOn(share(n))}; pointer-events: none`);
          image.append(mark);
        }
        if (top && n === number(top, state.measure)) rings.push(svg("rect", { ...place, class: "ring", "pointer-events": "none" }));
      });
      image.append(...rings);
      const every = Math.max(1, Math.ceil((Math.max(...columns.map((u) => wide(shown(u)))) + 8) / w));
      columns.forEach((u, i) => { if (i % every === 0) image.append(text(left + (i + 0.5) * w, bottom + 12, shown(u))); });
      const rare = Math.max(1, Math.ceil(16 / h));
      if (y !== null) lines.forEach((v, j) => { if (j % rare === 0) image.append(text(left - 6, bottom - (j + 0.5) * h, shown(v), "end")); });
      image.append(text((left + right) / 2, bottom + 32, parameters[x], "middle", ""));
      if (y !== null) {
        const name = text(9, bottom / 2, parameters[y], "middle", "");
        name.setAttribute("transform", `rotate(-90 9 ${bottom / 2})`);
        image.append(name);
      }
      // The scale under the map, where it covers nothing.
      const bar = Math.min(260, width - left - 10);
      for (let i = 0; i < 52; i++)
        image.append(svg("rect", { x: left + (i * bar) / 52, y: bottom + 50, width: bar / 52 + 0.5, height: 10, fill: colour(greatest ? 1 - i / 51 : i / 51) }));
      if (numbers.length) {
        image.append(text(left, bottom + 72, shown(values.least), "start"));
        if (values.most > values.least) image.append(text(left + bar, bottom + 72, shown(values.most), "end"));
      }
      heatChart.replaceChildren(image);
    };
    if (axes.length) {
      const choices = html("div", { class: "controls" }, ...axes.map(([name, control]) => html("label", {}, name === "x" ? "across" : "up", control)));
      if (drawn.length > 1) choices.prepend(html("label", {}, "show", measure));
      heat.append(html("h3", {}, "Heat map"), choices, html("figure", {}, heatCaption, heatChart));
    }

    // A strip of points for each parameter.
    const strips = html("div", { class: "strips", id: "strips" });
    const drawStrips = () => {
      const order = [...varying].sort((a, b) => effect(b) - effect(a));
      strips.replaceChildren(...order.map(() => html("figure")));
      const width = strips.firstChild.clientWidth;
      order.forEach((p, i) => strips.children[i].append(...strip(p, width)));
    };
    const strip = (p, width) => {
      const values = distinct(kept, p);
      const timed = kept.filter((row) => number(row, state.measure) !== null);
      const height = 150, up = scale(timed.map((row) => number(row, state.measure)), height, 8);
      const ticks = timed.length ? up.ticks(26) : [];
      const left = 8 + Math.max(0, ...ticks.map((n) => wide(shown(n))));
      const w = (width - left - 8) / values.length;
      const image = chart(width, height + 28, `${measures[state.measure].name} for each value of ${parameters[p]}`);
      for (const n of ticks)
        image.append(svg("line", { x1: left, x2: width - 8, y1: up.at(n), y2: up.at(n), class: "grid" }), text(left - 4, up.at(n), shown(n), "end"));
      // One mark for each spot of a few pixels: many configurations make no large picture.
      const seen = new Set();
      timed.forEach((row, i) => {
        const spread = Math.min(w * 0.7, 46) * (((i * 0.618034) % 1) - 0.5);
        const x = left + (values.indexOf(row.values[p]) + 0.5) * w + spread, y = up.at(number(row, state.measure));
        const spot = Math.round(x / 4) + " " + Math.round(y / 3);
        if (seen.has(spot)) return;
        seen.add(spot);
        image.append(telling(svg("circle", { cx: x, cy: y, r: 2.5, class: "dot" }), () => said(row)));
      });
      const each = bestBy(kept, (row) => row.values[p]), top = best(kept);
      values.forEach((v, i) => {
        const row = each.get(v);
        if (!row) return;
        const x = left + (i + 0.5) * w, y = up.at(number(row, state.measure)), half = Math.min(w * 0.4, 24);
        image.append(telling(svg("line", { x1: x - half, x2: x + half, y1: y, y2: y, class: "least" }), () => said(row)));
        if (number(row, state.measure) === number(top, state.measure))
          image.append(svg("circle", { cx: x, cy: y, r: 6, class: "ring", "pointer-events": "none" }));
      });
      const every = Math.max(1, Math.ceil((Math.max(...values.map((v) => wide(shown(v)))) + 6) / w));
      values.forEach((v, i) => { if (i % every === 0) image.append(text(left + (i + 0.5) * w, height + 14, shown(v))); });
      return [html("figcaption", {}, html("b", {}, parameters[p]), values.length < 2 ? "" : matters(p)), image];
    };

    const key = (mark, label) => html("span", { class: "key" }, svg("svg", { class: "chart", width: 18, height: 18 }, mark), label);
    // Two logarithmic axes, each with its name and the numbers that it has room for.
    const plane = (place, about, [xName, xs], [yName, ys]) => {
      const width = Math.min(900, place.clientWidth), height = Math.min(420, width * 0.7);
      const up = scale(ys, height, 10, true), ticksUp = up.ticks(24);
      const left = 26 + Math.max(...ticksUp.map((n) => wide(shown(n))));
      const along = scale(xs, left + 10, width - 14, true);
      const image = chart(width, height + 52, about);
      for (const n of ticksUp)
        image.append(svg("line", { x1: left, x2: width, y1: up.at(n), y2: up.at(n), class: "grid" }), text(left - 4, up.at(n), shown(n), "end"));
      for (const n of along.ticks(1.6 * wide(shown(along.most))))
        image.append(text(Math.min(along.at(n), width - 3 - wide(shown(n)) / 2), height + 16, shown(n)));
      image.append(text((left + width) / 2, height + 38, `${xName} (logarithmic)`, "middle", ""));
      const name = text(8, height / 2, `${yName} (logarithmic)`, "middle", "");
      name.setAttribute("transform", `rotate(-90 8 ${height / 2})`);
      image.append(name);
      return { image, along, up, left, width, height };
    };
    // Whether nothing is within a few pixels yet.
    const spots = () => {
      const seen = new Set();
      return (x, y, kind = "") => {
        const spot = [kind, Math.round(x / 3), Math.round(y / 3)].join(" ");
        return !seen.has(spot) && seen.add(spot);
      };
    };

    // The model's times and the measured ones.
    const scatter = html("div", { id: "scatter" });
    const drawScatter = () => {
      const [model, measured, about] = over;
      const pairs = kept.filter((row) => number(row, model) > 0 && number(row, measured) > 0);
      const figure = html("figure"), place = html("div");
      scatter.replaceChildren(html("h3", {}, "Model against measured"), figure);
      figure.append(html("figcaption", {}, about), place);
      if (!pairs.length) return;
      const axis = (m) => [measures[m].name, pairs.map((row) => number(row, m))];
      const { image, along, up } = plane(place, "measured time over the model's", axis(model), axis(measured));
      const free = spots(), at = (row) => [along.at(number(row, model)), up.at(number(row, measured))];
      for (const row of pairs) {
        const [x, y] = at(row);
        if (free(x, y)) image.append(telling(svg("circle", { cx: x, cy: y, r: 3, class: "dot" }), () => said(row)));
      }
      const least = (of, m) => of.reduce((a, b) => (number(b, m) < number(a, m) ? b : a));
      const fastest = least(pairs, measured);
      const chosen = least(pairs.filter((row) => number(row, model) === along.least), measured);
      const ring = (cx, cy) => svg("circle", { cx, cy, r: 6, class: "ring" });
      const box = (x, y) => svg("rect", { x: x - 7, y: y - 7, width: 14, height: 14, class: "chosen" });
      for (const [row, mark] of [[fastest, ring], [chosen, box]]) {
        const drawnMark = mark(...at(row));
        drawnMark.setAttribute("pointer-events", "none");
        image.append(drawnMark);
      }
      const reach = number(fastest, measured) / number(chosen, measured);
      place.append(html("div", { class: "controls" },
        key(ring(9, 9), `fastest measured: ${shown(number(fastest, measured))}`),
        key(box(9, 9), `the model's best: ${shown(number(chosen, measured))}, ${percent(reach)} of the fastest`)), image);
    };

    // Times over floors: no run on the device can be below the line.
    const roof = html("div", { id: "roofline" });
    const kinds = {
      predicted: (x, y) => svg("path", { d: `M${x} ${y - 4}l4 4l-4 4l-4 -4z`, class: "predicted" }),
      measured: (x, y) => svg("circle", { cx: x, cy: y, r: 3, class: "measured" }),
      below: (x, y) => svg("path", { d: `M${x - 5} ${y - 4}h10l-5 9z`, class: "below" }),
    };
    const drawRoofline = () => {
      const { floor, times, space } = roofline, counts = new Map();
      const floored = kept.filter((row) => number(row, floor) > 0);
      for (const row of floored) counts.set(row.binds, (counts.get(row.binds) ?? 0) + 1);
      const terms = [...counts].sort((a, b) => b[1] - a[1]).map(([term, n]) => `${term} in ${shown(n)}`);
      const figure = html("figure"), place = html("div");
      roof.replaceChildren(html("h3", {}, "Times over floors"), figure);
      figure.append(html("figcaption", {}, `The term that binds: ${terms.join(", ") || "none"}`), place);
      const all = times.flatMap(({ measure, microseconds, measured }) => floored.flatMap((row) => {
        const low = number(row, floor), time = number(row, measure) * microseconds;
        return time > 0 ? [{ row, low, time, kind: !measured ? "predicted" : time < low ? "below" : "measured" }] : [];
      }));
      if (!all.length) return;
      // The line goes through what both axes have: floors, and that of the space where it is known.
      const lows = [...(space?.[0] > 0 ? [space[0]] : []), ...all.map(({ low }) => low)];
      const { image, along, up, left, width, height } = plane(place, "times over floors",
        ["floor, us", lows], ["time, us", lows.concat(all.map(({ time }) => time))]);
      const level = along.least === along.most;
      const [[x1, x2], [y1, y2]] = [level ? [left, width] : [along.at(along.least), along.at(along.most)], [up.at(along.least), up.at(along.most)]];
      const line = (x1, y1, x2, y2, kind) => svg("line", { x1, y1, x2, y2, class: kind });
      image.append(svg("path", { d: `M${x1} ${y1}L${x2} ${y2}V${height}H${x1}Z`, class: "never" }), line(x1, y1, x2, y2, "floor"));
      const legend = [key(line(1, 15, 17, 3, "floor"), "the floor: no run can be below")];
      if (space?.[0] > 0) {
        image.append(line(along.at(space[0]), 10, along.at(space[0]), height, "space"));
        legend.push(key(line(9, 1, 9, 17, "space"), `floor of the space: ${shown(space[0])} us by ${space[1]}`));
      }
      // What contradicts floors lies on top.
      const free = spots();
      for (const [kind, mark] of Object.entries(kinds)) {
        const own = all.filter((point) => point.kind === kind);
        for (const { row, low, time } of own) {
          const [x, y] = [along.at(low), up.at(time)];
          if (free(x, y, kind)) image.append(telling(mark(x, y), () => said(row)));
        }
        const below = own.filter(({ low, time }) => time < low).length;
        const about = { predicted: `predicted${below ? `, ${shown(below)} of them below` : ""}`, measured: "measured", below: "measured below the floor: a contradiction" };
        if (own.length) legend.push(key(mark(9, 9), `${shown(own.length)} ${about[kind]}`));
      }
      place.append(html("div", { class: "controls" }, ...legend), image);
    };

    // The table.
    const column = (name, kind, of, told = of) => ({ name, kind, of, told });
    const columns = [
      ...measures.map(({ name }, m) => column(name, "number", (row) => number(row, m), (row) => shown(row.numbers[m]))),
      ...(rows.some((row) => row.binds) ? [column("floor by", "", (row) => row.binds ?? null, (row) => row.binds ?? "-")] : []),
      ...parameters.map((name, p) => column(name, "number", (row) => row.values[p], (row) => shown(row.values[p]))),
      ...(rows.some((row) => row.note) ? [column("note", "note", (row) => row.note ?? null, (row) => row.note ?? "")] : []),
    ];
    const table = html("table", {}, html("thead", {}, html("tr", {},
      ...columns.map(({ name, kind }) => html("th", kind === "number" ? { class: kind } : {}, name)))), html("tbody"));
    headers(table, (column, down) => { Object.assign(state, { sort: column, down }); drawTable(); });
    table.tHead.rows[0].cells[0].setAttribute("aria-sort", state.down ? "descending" : "ascending");
    const more = on(html("button", { type: "button", class: "more" }, "show more"), "click", () => { state.rows += 500; drawTable(); });
    const drawTable = () => {
      const sorted = kept.map((row, i) => [columns[state.sort].of(row), i, row]);
      sorted.sort((a, b) => compared(a[0], b[0], state.down) || a[1] - b[1]);
      const top = best(kept, 0), least = top && number(top, 0);
      const line = (row) => html("tr", top && number(row, 0) === least ? { class: "best" } : {},
        ...columns.map(({ kind, told }) => html("td", kind ? { class: kind } : {}, told(row))));
      table.tBodies[0].replaceChildren(...sorted.slice(0, state.rows).map(([, , row]) => line(row)));
      more.hidden = sorted.length <= state.rows;
      more.textContent = `show more (${shown(Math.max(0, sorted.length - state.rows))} left)`;
    };

    const drawCharts = () => {
      if (axes.length && drawn.length && kept.length) { drawHeat(); drawStrips(); if (over) drawScatter(); if (roofline) drawRoofline(); }
    };
    const update = () => {
      kept = rows.filter((row) => [...state.filters].every(([p, v]) => row.values[p] === v));
      total.textContent = `${shown(kept.length)} of ${shown(rows.length)} configurations`;
      for (const part of [heat, strips, scatter, roof]) part.hidden = !kept.length;
      drawCharts();
      drawTable();
    };
    const place = document.getElementById("table");
    section.insertBefore(controls, place);
    if (drawn.length) {
      if (over) section.insertBefore(scatter, place);
      if (roofline) section.insertBefore(roof, place);
      section.insertBefore(heat, place);
      if (varying.length) section.insertBefore(html("h3", {}, "Each parameter"), place);
      if (varying.length) section.insertBefore(html("p", { class: "faint" }, "A dot is a configuration; a bar is the best one with that value; a ring is the best of all. Parameters that matter most come first."), place);
      section.insertBefore(strips, place);
    }
    section.insertBefore(html("h3", {}, "Table"), place);
    place.replaceChildren(table);
    place.after(more);
    update();
    redraws.push(drawCharts);
  };

  // The lanes of a run up to a tick; dragging over them shows a part of it.
  const timeline = (section, end, { kinds, steps, lanes }) => {
    let from = 0, to = end;
    const place = html("div"), whole = html("button", { type: "button" }, "whole run");
    // By kind; by step where all are of one kind, as in published models.
    const palette = ["global", "compute", "local", "barrier", "atomic", "constant"];
    const bySteps = kinds.length === 1 && steps.length > 1;
    const hue = (kind, step) => (bySteps ? palette[step % palette.length] : kinds[kind]);
    const legend = (bySteps ? steps.slice(0, palette.length) : kinds).map((name, i) =>
      key(svg("rect", { class: hue(i, i), width: 12, height: 12, y: 3, x: 3 }), name));
    function key(mark, label) { return html("span", { class: "key" }, svg("svg", { width: 18, height: 18 }, mark), label); }
    on(whole, "click", () => { from = 0; to = end; draw(); });
    section.append(html("div", { class: "controls" }, ...legend, whole, html("span", { class: "faint" }, "drag to look closer")), place);
    const draw = () => {
      const width = place.clientWidth, pitch = 38, height = lanes.length * pitch;
      const image = chart(width, height + 26, "what the elements do, over time");
      const x = (tick) => ((Math.min(to, Math.max(from, tick)) - from) / (to - from)) * width;
      const tick = (px) => from + (px / width) * (to - from);
      lanes.forEach(({ name, blocks }, i) => {
        const y = i * pitch;
        image.append(text(0, y + 9, name, "start"), svg("rect", { x: 0, y: y + 18, width, height: 16, class: "lane" }));
        for (const [start, last, kind, step, spans] of blocks) {
          if (last <= from || start >= to) continue;
          const [a, b] = [x(start), x(last)], gap = b - a > 3 ? 0.6 : 0;
          const mark = svg("rect", { x: a, y: y + 18, width: Math.max(0.4, b - a - gap), height: 16, class: hue(kind, step) });
          image.append(telling(mark, () => `${steps[step]} (${kinds[kind]})\n${name}\nticks ${shown(start)} to ${shown(last)}: ${shown(last - start)}`
            + (spans > 1 ? `\n${shown(spans)} spans` : "")));
        }
      });
      const middle = (from + to) / 2;
      image.append(text(0, height + 12, shown(Math.round(from)), "start"), text(width / 2, height + 12, shown(Math.round(middle))),
        text(width, height + 12, shown(Math.round(to)) + " ticks", "end"));
      let began = null, brush = null;
      const offset = (event) => Math.min(width, Math.max(0, event.clientX - image.getBoundingClientRect().left));
      on(image, "pointerdown", (event) => { began = offset(event); });
      on(image, "pointermove", (event) => {
        if (began === null) return;
        brush ??= image.appendChild(svg("rect", { y: 0, height, class: "brush", "pointer-events": "none" }));
        brush.setAttribute("x", Math.min(began, offset(event)));
        brush.setAttribute("width", Math.abs(offset(event) - began));
      });
      on(image, "pointerleave", () => { began = null; brush?.remove(); brush = null; });
      on(image, "pointerup", (event) => {
        if (began === null) return;
        const [a, b] = [tick(Math.min(began, offset(event))), tick(Math.max(began, offset(event)))];
        const far = Math.abs(offset(event) - began) > 5 && b - a >= 2;
        began = null;
        if (far) { from = a; to = b; draw(); }
      });
      whole.hidden = from === 0 && to === end;
      place.replaceChildren(image);
    };
    draw();
    redraws.push(draw);
  };

  document.querySelectorAll("table.sortable").forEach(sortable);
  const source = document.getElementById("data");
  const data = source ? JSON.parse(source.textContent) : {};
  document.body.append(tip);
  // All over the same time, so that runs can be compared.
  const runs = data.timelines ?? [], end = Math.max(...runs.map((run) => run.end));
  document.querySelectorAll("section.timeline").forEach((section, i) => timeline(section, end, runs[i]));
  if (data.configurations) configurations(document.getElementById("configurations"), data.configurations);
  on(document, "pointerover", tell);
  on(document, "pointermove", tell);
  on(document, "click", tell);
  on(document, "scroll", () => { tip.hidden = true; });
  let width = document.documentElement.clientWidth;
  on(window, "resize", () => {
    if (document.documentElement.clientWidth === width) return;
    width = document.documentElement.clientWidth;
    redraws.forEach((draw) => draw());
  });
})();
