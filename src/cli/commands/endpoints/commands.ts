import type { CommandTree } from '../../command.ts'

/** The commands of `upshot endpoints`. */
export const ENDPOINTS_COMMANDS: CommandTree = {
  list: { summary: 'list the endpoints with their addresses', load: () => import('./list.ts') },
  add: {
    summary: 'create an endpoint and print the values for the webhook settings of the service',
    load: () => import('./add.ts'),
  },
  show: {
    summary: 'show an endpoint: its scheme, the last use of each secret, deliveries in 24 h',
    load: () => import('./show.ts'),
  },
  test: {
    summary: 'send an endpoint signed, forged and repeated deliveries, and check its answers',
    load: () => import('./test.ts'),
  },
  rotate: {
    summary: 'create a new secret and let the old one expire, or retire the old one now',
    load: () => import('./rotate.ts'),
  },
  edit: {
    summary: 'change the events, account, scheme or header of an endpoint',
    load: () => import('./edit.ts'),
  },
  solve: {
    summary: 'find out how deliveries are signed, or why no scheme fits',
    load: () => import('./solve.ts'),
  },
  pin: {
    summary: 'set the signature scheme of an endpoint and accept its deliveries',
    load: () => import('./pin.ts'),
  },
  disable: { summary: 'refuse the deliveries of an endpoint', load: () => import('./disable.ts') },
  enable: { summary: 'accept the deliveries of an endpoint again', load: () => import('./enable.ts') },
  remove: {
    summary: 'remove an endpoint for good; the events it received are kept',
    load: () => import('./remove.ts'),
  },
  send: {
    summary: 'sign any body and send it to any URL',
    load: () => import('./send.ts'),
  },
}
