import { type Command, Option } from '@commander-js/extra-typings'
import { EFFECT_ROUTES } from '../../../../admin/contract/resources/safety/effects.ts'
import { formatAnchor } from '../../../../core/safety/ledger/anchor.ts'
import { describeScope, type StopScope } from '../../../../core/safety/stop.ts'
import { STORAGES, type StorageName } from '../../../../core/service/storage.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { actCommand } from '../../../operate/act-command.ts'
import { listCommand } from '../../../operate/list-command.ts'
import { effectColumns, tellEffect } from './effect-view.ts'

const PLANNED = 'Nothing acts here now. What runs would do: upshot runs list --status planned'

/** `--file` stands for both. */
export const EFFECT_NAMES = { without: ['target', 'path'] }

/** `upshot effects list`: the newest rows of the effect ledger. */
export const list = listCommand(EFFECT_ROUTES, 'GET /effects', {
  ...EFFECT_NAMES,
  options: addFile,
  query: readFile,
  columns: effectColumns,
  empty: 'No effect matches.',
  after: ({ mode }) => (mode === 'plan' ? [PLANNED] : []),
})

export function addFile(command: Command): void {
  command.option('--file <file>', 'only this path, such as /out/a.mov, or this target, such as storage_a:fil_1')
}

/** A target, or the path in it: the ledger has both. */
export function readFile({ file }: Record<string, unknown>): { path?: string; target?: string } {
  if (typeof file !== 'string') return {}
  const [, path] = /^(?:storage_[abc]:)?(\/.*)$/s.exec(file) ?? []
  return path === undefined ? { target: file } : { path }
}

/** `upshot effects show <n>`: everything that one row of the ledger says. */
export const show = actCommand('GET /effects/:seq', {
  argument: ['seq', 'number of the row, as "effects list" prints it'],
  done: (row) => [...tellEffect(row, commandClock.now()), row.isSealed ? '  sealed' : '  not sealed yet'],
})

/** `upshot effects of <file>`: who did what to it, when, by which run and whose word. */
export const of = actCommand('GET /effects/of-file', {
  argument: ['file', 'a path such as /out/a.mov, or a target such as storage_a:fil_1'],
  query: (_, file) => ({ file }),
  data: ({ items }) => items,
  done: ({ items }) => items.flatMap((row) => tellEffect(row, commandClock.now())),
})

/** `upshot effects anchor`: seals the ledger, and prints the end of its chain. */
export const anchor = actCommand('POST /effects/anchor', {
  help: 'It is also appended to the file in UPSHOT_ANCHOR_FILE. A --dry-run seals nothing.',
  tries: true,
  done: ({ at, ...rest }) => formatAnchor({ ...rest, at: Date.parse(at) }),
})

/** `upshot effects restored --reason`: says that the database was restored from a backup. */
export const restored = actCommand('POST /effects/restored', {
  help: 'The chain then accepts anchors of what the backup did not have. Every verification names the restoration.',
  needsReason: 'A restoration needs a reason, which every verification shows.',
  will: () => 'accept that the ledger lost its newest rows to a backup',
  asks: () => [],
  done: ({ seal }) => `Seal ${seal} says that the database was restored.`,
})

/** `upshot effects stop --reason`: no delete and no `once` step begins after its commit. */
export const stop = actCommand('POST /effects/stop', {
  help: 'It holds in every process and over restarts, until "upshot effects resume".',
  needsReason: 'A stop needs a reason, which its runs show meanwhile.',
  options: addScope,
  will: (_, __, choice) => `stop ${describeScope(toScope(choice))}`,
  body: (choice: ScopeChoice) => toScope(choice),
  done: (_, __, { options }) => `Stopped ${describeScope(toScope(options))}.`,
  note: () => 'Let them go on with "upshot effects resume".',
})

/** `upshot effects resume`: ends a stop and wakes the runs that it holds. */
export const resume = actCommand('POST /effects/resume', {
  options: addScope,
  will: (_, __, choice) => `let ${describeScope(toScope(choice))} go on`,
  body: (choice: ScopeChoice) => toScope(choice),
  done: ({ woken }, _, { options }) => `Resumed ${describeScope(toScope(options))}; ${woken} runs go on.`,
})

/** Options that narrow a stop; one of them at most. */
interface ScopeChoice {
  workflow?: string | undefined
  account?: string | undefined
  storage?: StorageName | undefined
}

function addScope(command: Command) {
  return command
    .addOption(new Option('--workflow <id>', 'only the effects of this workflow').conflicts(['account', 'storage']))
    .addOption(new Option('--account <name>', 'only the effects on this account').conflicts('storage'))
    .addOption(new Option('--storage <name>', 'only the effects on this storage').choices(STORAGES))
}

/** The scope that the options choose; everything without any. */
function toScope({ workflow, account, storage }: ScopeChoice): StopScope {
  if (workflow !== undefined) return { kind: 'workflow', name: workflow }
  if (account !== undefined) return { kind: 'account', name: account }
  return storage === undefined ? { kind: 'all', name: '' } : { kind: 'storage', name: storage }
}
