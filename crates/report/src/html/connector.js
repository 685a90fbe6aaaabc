"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const pictures = [...document.querySelectorAll(".wires svg")];
const items = [...document.querySelectorAll(".wires [data-key]")];
const byId = (id) => document.getElementById(id);

// A picture is seen through its view box: the wheel and buttons change how large it is, a drag moves it.
for (const svg of pictures) {
  const whole = svg.viewBox.baseVal;
  const full = { x: whole.x, y: whole.y, width: whole.width, height: whole.height };
  let view = { ...full };
  const show = () => svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
  const zoom = (by, x, y) => {
    const least = Math.min(full.width, 120);
    const width = Math.min(Math.max(view.width / by, least), full.width * 4);
    const scale = width / view.width;
    view = { x: x - (x - view.x) * scale, y: y - (y - view.y) * scale, width, height: view.height * scale };
    show();
  };
  const at = (event) => {
    const box = svg.getBoundingClientRect();
    const scale = Math.max(view.width / box.width, view.height / box.height);
    return {
      x: view.x + view.width / 2 + (event.clientX - box.left - box.width / 2) * scale,
      y: view.y + view.height / 2 + (event.clientY - box.top - box.height / 2) * scale,
      scale,
    };
  };
  const controls = svg.parentElement.querySelector(".zoom");
  controls.hidden = false;
  controls.addEventListener("click", (event) => {
    const by = Number(event.target.dataset.by);
    if (event.target.dataset.by === "0") {
      view = { ...full };
      show();
    } else if (by) {
      zoom(by, view.x + view.width / 2, view.y + view.height / 2);
    }
  });
  svg.addEventListener("wheel", (event) => {
    // Without the key the wheel scrolls the page.
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const { x, y } = at(event);
      zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, x, y);
    }
  }, { passive: false });
  let drag = null;
  svg.addEventListener("pointerdown", (event) => {
    drag = event;
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointerup", () => { drag = null; });
  svg.addEventListener("pointermove", (event) => {
    if (drag) {
      const { scale } = at(event);
      view.x -= (event.clientX - drag.clientX) * scale;
      view.y -= (event.clientY - drag.clientY) * scale;
      drag = event;
      show();
    }
  });
  svg.addEventListener("centre", (event) => {
    const box = event.detail;
    view.x = box.x + box.width / 2 - view.width / 2;
    view.y = box.y + box.height / 2 - view.height / 2;
    show();
  });
}

// Items are found by the words that they show.
byId("find").addEventListener("input", (event) => {
  const wanted = event.target.value.trim().toLowerCase();
  let first = null;
  let count = 0;
  for (const item of items) {
    const found = wanted !== "" && item.textContent.toLowerCase().includes(wanted);
    item.classList.toggle("found", found);
    count += found ? 1 : 0;
    first = first || (found ? item : null);
  }
  byId("found").textContent = wanted === "" ? "" : `${count} found`;
  if (first) {
    first.ownerSVGElement.dispatchEvent(new CustomEvent("centre", { detail: first.getBBox() }));
  }
});

// What a step of the run lights.
const slider = byId("step");
const light = () => {
  const frame = data.frames[slider ? Number(slider.value) : 0];
  const on = new Set(frame ? frame.on : []);
  items.forEach((item) => item.classList.toggle("on", on.has(item.dataset.key)));
  byId("caption").textContent = frame && data.frames.length > 1 ? frame.caption : "";
};
if (slider) {
  const move = (by) => {
    slider.value = Number(slider.value) + by;
    light();
  };
  byId("run").hidden = false;
  byId("back").addEventListener("click", () => move(-1));
  byId("on").addEventListener("click", () => move(1));
  slider.addEventListener("input", light);
  document.addEventListener("keydown", (event) => {
    if (event.target.tagName !== "INPUT" && ["ArrowLeft", "ArrowRight"].includes(event.key)) {
      move(event.key === "ArrowLeft" ? -1 : 1);
    }
  });
  light();
}
