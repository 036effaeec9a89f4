import { join, resolve } from 'node:path'
import { defineConfig } from 'vite'

const ROOT = resolve(import.meta.dirname, '../..')

/** Builds the dashboard into `dist/dashboard`, from which the admin server serves it. */
export default defineConfig({
  root: import.meta.dirname,
  // The admin server writes the real base path into `index.html`.
  base: './',
  publicDir: 'public',
  build: {
    outDir: join(ROOT, 'dist/dashboard'),
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: { polyfill: false },
    // The content security policy allows no data URLs but for pictures.
    assetsInlineLimit: 0,
  },
  // Vite follows NODE_ENV, which says "test" under Vitest and may say "development" in a shell.
  define: { 'process.env.NODE_ENV': '"production"' },
  // `parts/jsx-runtime.ts` makes each element.
  oxc: { jsx: { development: false, importSource: join(import.meta.dirname, 'parts') } },
  // The libraries' "use client" says nothing here.
  logLevel: 'error',
})
