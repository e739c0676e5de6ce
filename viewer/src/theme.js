// Colours for light and dark. Links and curves share one palette, so that a joint's curve has the colour of its link.

const LIGHT = {
  palette: ["#2a6fdb", "#e0691b", "#0f9274", "#c23b7e", "#7b57d1", "#b88a00", "#1491b8", "#7a4b2a", "#5f7d1f", "#64748b"],
  fixed: "#8a94a3",
  top: "#fbfcfe", bottom: "#dfe6ef", floor: "#e9eef5", line: "#8fa0b8", shadow: 0.26,
  sky: "#ffffff", soil: "#c3ccd8", skyLight: 1.15, sun: 2.1, environment: 0.5,
  force: "#c2174b", center: "#111827", inertia: "#7b57d1", loop: "#0f9274", text: "#1b2430", faint: "#667386", rule: "#d5dce6", plot: "#ffffff",
};
const DARK = {
  palette: ["#5b9dff", "#ff9350", "#2fcf9f", "#ff74ae", "#a98bff", "#e8c146", "#4fc9ee", "#d49a6a", "#a5cc4d", "#a7b4c8"],
  fixed: "#76828f",
  top: "#1c2430", bottom: "#0c1016", floor: "#141a23", line: "#51617a", shadow: 0.5,
  sky: "#b9cdf0", soil: "#1a1f28", skyLight: 0.75, sun: 2.0, environment: 0.38,
  force: "#ff5c8a", center: "#f8fafc", inertia: "#a98bff", loop: "#2fcf9f", text: "#e7ecf3", faint: "#8e9bad", rule: "#2a3442", plot: "#151b24",
};

const query = matchMedia("(prefers-color-scheme: dark)");

export const theme = () => (query.matches ? DARK : LIGHT);
export const onThemeChange = (react) => query.addEventListener("change", react);
export const colorOf = (group) => (group < 0 ? theme().fixed : theme().palette[group % theme().palette.length]);
