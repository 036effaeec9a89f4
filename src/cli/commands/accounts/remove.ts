import { actCommand } from '../../operate/act-command.ts'

/** `upshot accounts remove <name>`: removes it with its keys; refused while an endpoint uses it. */
export const define = actCommand('DELETE /accounts/:name', {
  argument: ['name', 'name of the account'],
  look: 'GET /accounts/:name',
  will: (name) => `remove the account "${name}" and its keys`,
  asks: () => ['unfinished runs of its events can no longer call its API', 'its events and runs are kept'],
  data: (_, name) => ({ name, removed: true }),
  done: (_, name) => `Removed the account "${name}".`,
})
