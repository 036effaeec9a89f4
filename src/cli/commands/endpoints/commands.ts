import type { CommandTree } from '../../command.ts'

/** The commands of `upshot endpoints`. */
export const ENDPOINTS_COMMANDS: CommandTree = {
  list: { summary: 'the endpoints with their addresses', load: () => import('./list.ts') },
  add: {
    summary: 'make an endpoint and print what to paste into the settings of the service',
    load: () => import('./add.ts'),
  },
  show: {
    summary: 'one endpoint: how it is signed, when each secret was last used, what came in 24 h',
    load: () => import('./show.ts'),
  },
  test: {
    summary: 'send it what it must take, refuse and know, and see that it does',
    load: () => import('./test.ts'),
  },
  rotate: {
    summary: 'make a new secret and let the old one run out, or retire the old one now',
    load: () => import('./rotate.ts'),
  },
  edit: {
    summary: 'change its events, account, scheme or header',
    load: () => import('./edit.ts'),
  },
  solve: {
    summary: 'find out how deliveries are signed, or what stands in the way',
    load: () => import('./solve.ts'),
  },
  pin: {
    summary: 'settle how its deliveries are signed, and take them',
    load: () => import('./pin.ts'),
  },
  disable: { summary: 'refuse its deliveries', load: () => import('./disable.ts') },
  enable: { summary: 'take its deliveries again', load: () => import('./enable.ts') },
  remove: {
    summary: 'end its address and its secrets for ever; what it received stays',
    load: () => import('./remove.ts'),
  },
  send: {
    summary: 'sign any body and send it to any URL',
    load: () => import('./send.ts'),
  },
}
