import DefaultTheme from 'vitepress/theme-without-fonts';
import { MermaidDrawing } from './mermaid-drawing.mjs';
import './style.css';

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => app.component('MermaidDrawing', MermaidDrawing),
};
