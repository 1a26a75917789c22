// What the page does once it is there: it draws its figures, links their times, and tells stories of jobs.
function saves(button) {
  const text = button.closest("details").querySelector("code").textContent;
  button.hidden = false;
  button.addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    link.download = button.dataset.file;
    link.click();
    URL.revokeObjectURL(link.href);
  });
}

async function begin() {
  document.querySelectorAll("button.save").forEach(saves);
  await drawAll();
  const [form, dialog] = [document.querySelector(".time-range"), document.getElementById("story")];
  if (form && boxes.some(box => box.layout.meta)) new TimeRange(form);
  if (dialog) new Stories(dialog);
  document.body.dataset.drawn = "yes";
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => repaint(false, {}));
addEventListener("beforeprint", () => repaint(true, { width: PAPER_PX, autosize: false }));
addEventListener("afterprint", () => repaint(false, { width: null, autosize: true }));
begin();
