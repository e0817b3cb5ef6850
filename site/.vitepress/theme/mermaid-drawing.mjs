import { useData, withBase } from 'vitepress';
import { defineComponent, h, onMounted, ref, watch } from 'vue';

let loading;
let drawings = 0;

/** A wide drawing scrolls: made to fit, its words could not be read. */
const READABLE = {
  startOnLoad: false,
  flowchart: { useMaxWidth: false, nodeSpacing: 10, rankSpacing: 35, padding: 6 },
  sequence: { useMaxWidth: false },
};

/** Draws Mermaid in the browser, in the colours of the page. Until then, and without scripts, it is text. */
export const MermaidDrawing = defineComponent({
  props: { code: { type: String, required: true } },
  setup(props) {
    const { isDark } = useData();
    const text = decodeURIComponent(props.code);
    const drawn = ref();
    const draw = async () => {
      const mermaid = await (loading ??= load());
      mermaid.initialize({ ...READABLE, theme: isDark.value ? 'dark' : 'default' });
      drawn.value = (await mermaid.render(`drawing-${++drawings}`, text)).svg;
    };
    onMounted(draw);
    watch(isDark, draw);
    return () =>
      drawn.value === undefined
        ? h('pre', { class: 'drawing' }, text)
        : h('div', { class: 'drawing', innerHTML: drawn.value });
  },
});

function load() {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = withBase('/mermaid.js');
    script.onload = () => resolve(globalThis.mermaid);
    script.onerror = () => reject(new Error(`${script.src} was not loaded`));
    document.head.append(script);
  });
}
