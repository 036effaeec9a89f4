import { type Command, Option } from '@commander-js/extra-typings'
import { EFFECT_ROUTES } from '../../../../admin/contract/resources/safety/effects.ts'
import type { AnswerOf } from '../../../../admin/contract/routes.ts'
import type { FileBefore, FileState } from '../../../../core/safety/effect.ts'
import { formatAnchor } from '../../../../core/safety/ledger/anchor.ts'
import { readAct } from '../../../../core/safety/ledger/outside-act.ts'
import { describeScope, type StopScope } from '../../../../core/safety/stop.ts'
import { STORAGES } from '../../../../core/service/storage.ts'
import { actCommand } from '../../../operate/act-command.ts'
import { listCommand } from '../../../operate/list-command.ts'
import { formatBytes, formatMoment, formatText } from '../../../terminal/format-value.ts'
import type { Column } from '../../../terminal/table.ts'

const PLANNED = 'Nothing acts here now. What runs would do: upshot runs list --status planned'

/** `--file` stands for both. */
export const EFFECT_NAMES = { without: ['target', 'path'] }

type Effect = AnswerOf<'GET /effects'>['items'][number]

export const EFFECT_COLUMNS: Column<Effect>[] = [
  { title: 'SEQ', value: ({ seq }) => seq, align: 'right' },
  { title: 'AT', value: ({ at }) => formatMoment(at), cut: 'never' },
  { title: 'PHASE', value: ({ phase }) => phase, cut: 'never' },
  { title: 'WHAT', value: ({ operation }) => operation, most: 40 },
  { title: 'FILE', value: ({ path, target }) => path ?? target, most: 60, least: 20, cut: 'start' },
  { title: 'SIZE', value: ({ bytes }) => formatBytes(bytes), align: 'right', isMinor: true },
  { title: 'OUTCOME', value: ({ outcome }) => outcome, most: 20 },
  { title: 'RUN', value: ({ runId }) => runId, cut: 'never', isMinor: true },
  { title: 'BY', value: ({ actor, approval, workflow }) => actor ?? approval ?? workflow, most: 40, isMinor: true },
]

export const list = listCommand(EFFECT_ROUTES, 'GET /effects', {
  ...EFFECT_NAMES,
  options: addFile,
  query: readFile,
  columns: EFFECT_COLUMNS,
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

export const show = actCommand('GET /effects/:seq', {
  argument: ['seq', 'number of the row, as "effects list" prints it'],
  done: (row) => [...formatEffect(row), row.isSealed ? '  sealed' : '  not sealed yet'],
})

export const of = actCommand('GET /effects/of-file', {
  argument: ['file', 'a path such as /out/a.mov, or a target such as storage_a:fil_1'],
  query: (_, file) => ({ file }),
  data: ({ items }) => items,
  done: ({ items }) => items.flatMap(formatEffect),
})

export const anchor = actCommand('POST /effects/anchor', {
  help: 'It is also appended to the file in UPSHOT_ANCHOR_FILE. A --dry-run seals nothing.',
  tries: true,
  done: ({ at, ...rest }) => formatAnchor({ ...rest, at: Date.parse(at) }),
})

export const restored = actCommand('POST /effects/restored', {
  help: 'The chain then accepts anchors of what the backup did not have. Each verification says so.',
  needsReason: 'A restoration needs a reason, which every verification shows.',
  will: () => 'accept that the ledger lost its newest rows to a backup',
  asks: () => [],
  done: ({ seal }) => `Seal ${seal} says that the database was restored.`,
  note: () => 'If the app stopped all effects at its start, let them go on with "upshot effects resume".',
})

export const stop = actCommand('POST /effects/stop', {
  help: 'It holds in every process and over restarts, until "upshot effects resume".',
  needsReason: 'A stop needs a reason, which its waiting runs show.',
  options: addScope,
  will: (_, __, choice) => `stop ${describeScope(toScope(choice))}`,
  body: (choice) => toScope(choice),
  done: (_, __, { options }) => `Stopped ${describeScope(toScope(options))}.`,
  note: () => 'Let them go on with "upshot effects resume".',
})

export const resume = actCommand('POST /effects/resume', {
  options: addScope,
  will: (_, __, choice) => `let ${describeScope(toScope(choice))} go on`,
  body: (choice) => toScope(choice),
  done: ({ woken }, _, { options }) => `Resumed ${describeScope(toScope(options))}; ${woken} runs go on.`,
})

/** Options that narrow a stop; one of them at most. */
type ScopeChoice = ReturnType<ReturnType<typeof addScope>['opts']>

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

/** Lines of the state that a delete required, and of the one that it found. */
function describeStates({ expect, before }: Pick<Effect, 'expect' | 'before'>): string[] {
  const required = expect as FileState | null
  const found = before as FileBefore | null
  return [
    ...(required === null ? [] : [`  only while it is ${describeState(required)}`]),
    ...(found === null ? [] : [`  it was ${describeState(found)}${found.sha256 ? `, SHA-256 ${found.sha256}` : ''}`]),
  ]
}

function describeState({ path, bytes, modifiedAt }: FileState): string {
  const parts = [path && formatText(path), bytes === null ? null : formatBytes(bytes), modifiedAt && `of ${modifiedAt}`]
  return parts.filter(Boolean).join(', ') || 'as it is'
}

type EffectDetails = AnswerOf<'GET /effects/of-file'>['items'][number]

/** Lines of one row of the ledger: what, when, by whom, by whose word, and how the file looked. */
function formatEffect(row: EffectDetails): string[] {
  const { at, phase, operation, path, target, bytes, outcome, proof, error, workflow, runId, step, approval, code } =
    row
  const act = readAct(row)
  const size = bytes === null ? '' : `, ${formatBytes(bytes)}`
  const known = proof === null ? '' : ` (${phase === 'decided' ? 'signed' : proof})`
  const end = outcome === null ? '' : `: ${outcome}${known}`
  const by = runId === null ? (row.actor ?? '') : `${workflow}, run ${runId}, step ${step}`
  const words = row.votes.map(({ actor, verdict, reason }) => `${actor} ${verdict}: ${reason ?? '–'}`)
  return [
    `${formatMoment(at)}  ${operation} ${phase}${end}  ${formatText(path ?? target ?? '')}${size}`,
    `  by ${formatText(by)}${code === null ? '' : `, code ${code.slice(0, 8)}`}`,
    ...(row.eventId === null ? [] : [`  after event ${formatText(row.eventId)}`]),
    ...(approval === null ? [] : [`  under approval ${approval}  ${formatText(words.join('; '))}`.trimEnd()]),
    ...describeStates(row),
    ...(error === null ? [] : [`  ${formatText(error, 200)}`]),
    ...(act === null ? [] : [`  ${formatText(act, 300)}`]),
  ]
}
