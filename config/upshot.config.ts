import { defineConfig } from 'upshot'

export default defineConfig({
  workflows: 'workflows',
  slots: 100,
  drain: '10s',
  // Its child process reads the database of this app.
  outside: { keys: ['weekly-coverage'], processes: ['weekly-coverage'] },
})
