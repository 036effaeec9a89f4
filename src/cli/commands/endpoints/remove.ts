import { actCommand } from '../../operate/act-command.ts'

/** `upshot endpoints remove <name>`: removes its address and secrets; events and runs are kept. */
export const define = actCommand('DELETE /endpoints/:name', {
  argument: ['name', 'name of the endpoint'],
  look: 'GET /endpoints/:name',
  will: (name) => `remove the endpoint "${name}", its address and its secrets for good`,
  asks(found) {
    const counts = Object.values(found?.deliveries24h ?? {})
    const deliveries = counts.reduce((sum, count) => sum + count, 0)
    return [
      `it received ${deliveries} deliveries in the last 24 h; further ones will be refused`,
      'stored deliveries, events and runs are kept',
    ]
  },
  data: (_, name) => ({ name, removed: true }),
  done: (_, name) => `Removed the endpoint "${name}". The events it received are kept.`,
  note: () => 'Remove its address from the webhook settings of the service.',
})
