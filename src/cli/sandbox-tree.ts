import type { CommandTree } from './command-tree.ts'

/** The commands of `upshot sandbox`. */
export const SANDBOX_COMMANDS: CommandTree = {
  start: {
    summary: 'run the sandbox alone, until Ctrl-C, and print its addresses and a fresh API key',
    load: () => import('./commands/sandbox-start.ts'),
  },
  status: {
    summary: 'where it runs, its settings, and what it holds',
    load: () => import('./commands/sandbox-status.ts'),
  },
  reset: {
    summary: 'make it as it was at its very first start',
    load: () => import('./commands/sandbox-reset.ts'),
  },
  settings: {
    summary: 'show or change plan, form of replies and every switch',
    load: () => import('./commands/sandbox-settings.ts'),
  },
  key: {
    summary: 'API keys of the account',
    commands: {
      new: { summary: 'make a key and print it', load: () => import('./commands/sandbox-key-new.ts') },
      list: { summary: 'the keys, without themselves', load: () => import('./commands/sandbox-key-list.ts') },
      revoke: { summary: 'refuse a key from now on', load: () => import('./commands/sandbox-key-revoke.ts') },
    },
  },
  webhook: {
    summary: 'addresses that are told of events',
    commands: {
      add: { summary: 'register an address', load: () => import('./commands/sandbox-webhook-add.ts') },
      list: { summary: 'the registered addresses', load: () => import('./commands/sandbox-webhook-list.ts') },
      remove: { summary: 'tell an address nothing more', load: () => import('./commands/sandbox-webhook-remove.ts') },
    },
  },
  storage: {
    summary: 'files in the storages, as if somebody else put them there',
    commands: {
      put: {
        summary: 'copy a file of this machine into a storage',
        load: () => import('./commands/sandbox-storage-put.ts'),
      },
      ls: { summary: 'what a folder holds', load: () => import('./commands/sandbox-storage-ls.ts') },
      rm: {
        summary: 'delete a file, or a folder with all in it',
        load: () => import('./commands/sandbox-storage-rm.ts'),
      },
    },
  },
  transfer: {
    summary: 'copies from one storage to another',
    commands: {
      start: {
        summary: 'copy a file or a folder, or fail on the way',
        load: () => import('./commands/sandbox-transfer-start.ts'),
      },
      list: { summary: 'the newest transfers', load: () => import('./commands/sandbox-transfer-list.ts') },
      cancel: { summary: 'end a transfer that runs', load: () => import('./commands/sandbox-transfer-cancel.ts') },
    },
  },
  deliveries: {
    summary: 'what was sent to webhooks, with every attempt',
    commands: {
      list: { summary: 'the newest deliveries', load: () => import('./commands/sandbox-deliveries-list.ts') },
      resend: { summary: 'send an event once more', load: () => import('./commands/sandbox-deliveries-resend.ts') },
      backfill: {
        summary: 'send a webhook every event that it missed',
        load: () => import('./commands/sandbox-deliveries-backfill.ts'),
      },
    },
  },
  fault: {
    summary: 'what goes wrong on purpose',
    commands: {
      add: { summary: 'let something go wrong', load: () => import('./commands/sandbox-fault-add.ts') },
      list: { summary: 'the faults and how often they struck', load: () => import('./commands/sandbox-fault-list.ts') },
      clear: {
        summary: 'let one fault, or all of them, be over',
        load: () => import('./commands/sandbox-fault-clear.ts'),
      },
    },
  },
  clock: {
    summary: 'the time that the sandbox lives in',
    commands: {
      show: { summary: 'what time it is there', load: () => import('./commands/sandbox-clock-show.ts') },
      advance: {
        summary: 'move it forward, with all that falls due',
        load: () => import('./commands/sandbox-clock-advance.ts'),
      },
      real: {
        summary: "back to the machine's time, and along with it",
        load: () => import('./commands/sandbox-clock-real.ts'),
      },
    },
  },
  probe: {
    summary: 'send a receiver what it must accept and what it must refuse',
    load: () => import('./commands/sandbox-probe.ts'),
  },
  audit: {
    summary: 'what clients did wrong, and the requests they made',
    load: () => import('./commands/sandbox-audit.ts'),
  },
  snapshot: {
    summary: 'states of the sandbox to come back to',
    commands: {
      save: { summary: 'keep everything as it is now', load: () => import('./commands/sandbox-snapshot-save.ts') },
      load: { summary: 'make everything as it was then', load: () => import('./commands/sandbox-snapshot-load.ts') },
      list: { summary: 'the snapshots there are', load: () => import('./commands/sandbox-snapshot-list.ts') },
    },
  },
}
