import { defineConfig } from 'upshot'

/**
 * Settings of this project. Secrets and addresses come from the environment or from `.env`; see
 * "upshot config show --origins".
 */
export default defineConfig({
  workflows: 'workflows',
  /** Number of runs at the same time. */
  slots: 100,
  /** How long a stop waits for active steps. */
  drain: '10s',
})
