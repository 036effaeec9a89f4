import { actCommand } from '../../../operate/act-command.ts'

/** `upshot approvers remove <name>`: later words do not count; earlier ones stay in the record. */
export const define = actCommand('DELETE /approvers/:name', {
  argument: ['name', 'name of the person'],
  will: (name) => `end the right of "${name}" to decide`,
  asks: () => [],
  data: (_, name) => ({ name, removed: true }),
  done: (_, name) => `"${name}" may not decide any more.`,
})
