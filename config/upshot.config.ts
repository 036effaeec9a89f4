import { defineConfig } from 'upshot'

export default defineConfig({
  workflows: 'workflows',
  slots: 100,
  drain: '10s',
})
