import { defineConfig } from 'upshot'

/**
 * What is no secret and no address. "upshot config show --origins" says where each value comes
 * from.
 */
export default defineConfig({
  workflows: 'workflows',
  /** Runs at work at the same time. */
  slots: 100,
  /** How long a stop waits for steps at work. */
  drain: '10s',
})
