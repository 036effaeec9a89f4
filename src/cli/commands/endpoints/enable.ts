import { actCommand } from '../../operate/act-command.ts'

/** `upshot endpoints enable <name>`: accepts deliveries again. */
export const define = actCommand('PATCH /endpoints/:name', {
  argument: ['name', 'name of the endpoint'],
  look: 'GET /endpoints/:name',
  body: () => ({ status: 'active' }),
  will: (name) => `enable the endpoint "${name}"`,
  done: (_, name, before) =>
    before?.status === 'active'
      ? `Endpoint "${name}" was already active.`
      : `Endpoint "${name}" accepts deliveries from now on.`,
  note: () => 'Deliveries refused meanwhile arrive only if the service sends them again.',
})
