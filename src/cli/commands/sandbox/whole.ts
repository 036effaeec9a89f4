import { UpshotError } from '../../../core/errors.ts'
import type { Finding, JournalEntry, ProbeCheck, ProbeReport, SandboxState, Settings } from '../../../sandbox/index.ts'
import { countUpTo } from '../../input/parse-option.ts'
import { formatBytes, formatMoment } from '../../terminal/format-value.ts'
import { type Column, formatFacts, formatTable } from '../../terminal/table.ts'
import { atSandbox, doConfirmed, isRehearsal, sandboxCommand, showRows } from './sandbox-command.ts'
import { findWebhook } from './webhook.ts'

export const status = atSandbox(async ({ out, sandbox: { origin, get } }) => {
  const state = await get<SandboxState>('/state')
  out.result({ origin, account: `${origin}/account`, ...state }, () => [
    out.paint('bold', state.url),
    ...formatFacts(describeState(origin, state), 11),
  ])
})

function describeState(origin: string, state: SandboxState): [string, string][] {
  const { clock, now, settings, storages, keys, webhooks, faults, transfers, deliveries } = state
  const waiting = deliveries.pending + deliveries.sending
  const changed = Object.entries(settings).flatMap(([name, value]) => (value === true ? name : []))
  return [
    ['account', `${origin}/account`],
    ['downloads', state.downloadOrigin],
    ['clock', `${now} (${clock})`],
    ['plan', settings.plan],
    ['form', settings.form],
    ['switched on', changed.join(', ') || 'nothing'],
    ...storages.map(({ name, dir, files, bytes }): [string, string] => [
      name,
      `${files} files, ${formatBytes(bytes)}, in ${dir}`,
    ]),
    ['API keys', String(keys)],
    ['webhooks', String(webhooks)],
    ['faults', String(faults)],
    ['transfers', `${transfers} running`],
    ['deliveries', `${deliveries.delivered} delivered, ${waiting} pending, ${deliveries.failed} failed`],
  ]
}

export const reset = sandboxCommand(
  (command) =>
    command
      .option('--keep-access', 'keep API keys and webhooks (always kept while an app runs this sandbox)')
      .addHelpText('after', '\nFiles are kept in storage directories that the sandbox did not create itself.'),
  async ({ out, sandbox }, { keepAccess: isAsked = false }) => {
    const keepAccess = isAsked || sandbox.belongsToApp
    const isReset = await doConfirmed(out, {
      will: `reset the sandbox at ${sandbox.origin}`,
      things: describeLosses(await sandbox.get<SandboxState>('/state'), keepAccess),
      act: () => sandbox.post('/reset', { keepAccess }),
      data: { keptAccess: keepAccess },
      is: 'reset',
      done: `Reset the sandbox at ${sandbox.origin}.`,
    })
    if (!isReset) return
    out.note(
      keepAccess ? 'API keys and webhooks are kept.' : 'No API key is left. Create one with "upshot sandbox key new".',
    )
  },
)

function describeLosses({ storages, keys, webhooks, faults, deliveries }: SandboxState, keepAccess: boolean): string[] {
  const sent = Object.values(deliveries).reduce((sum, count) => sum + count, 0)
  return [
    ...storages.map(({ name, files, bytes, dir }) => `${name}: ${files} files (${formatBytes(bytes)}) in ${dir}`),
    ...(keepAccess ? [] : [`${keys} API keys and ${webhooks} webhooks`]),
    `${sent} deliveries with their events, every transfer, ${faults} faults, the settings and the clock`,
  ]
}

/**
 * `upshot sandbox settings [name=value…]`: shows or changes settings. Most decide a point that the
 * service's documents leave open.
 */
export const settings = sandboxCommand(
  (command) =>
    command.argument(
      '[changes...]',
      'changes as name=value, such as plan=pro form=mixed deleteFolders=true (default: show all)',
    ),
  async ({ out, sandbox }, _, texts) => {
    const changes = Object.fromEntries(texts.map(parseChange))
    if (texts.length > 0 && isRehearsal(out, `set ${texts.join(' ')}`)) return
    const settings =
      texts.length > 0 ? await sandbox.patch<Settings>('/settings', changes) : await sandbox.get<Settings>('/settings')
    out.result(settings, () => Object.entries(settings).map(([name, value]) => `${name.padEnd(20)} ${value}`))
  },
)

function parseChange(text: string): [string, string | boolean] {
  const [, name, value] = /^(\w+)=(\S+)$/.exec(text) ?? []
  if (name !== undefined && value !== undefined) return [name, /^(true|false)$/.test(value) ? value === 'true' : value]
  throw new UpshotError('invalid_request', `"${text}" is not a change of a setting.`, {
    fix: 'Write it as name=value, such as plan=pro. "upshot sandbox settings" lists the names.',
  })
}

/** `upshot sandbox probe <endpoint>`: checks a receiver; exits with 7 if an answer is wrong. */
export const probe = sandboxCommand(
  (command) =>
    command
      .argument('<endpoint>', 'name of an endpoint of the project, or id or URL of a webhook')
      .addHelpText('after', '\nIts events have the type sandbox.probe. Some are forged, tampered, stale or too large.'),
  async (at, _, name) => {
    const { out, sandbox } = at
    const { id, url } = await findWebhook(at, name)
    if (isRehearsal(out, `probe ${url}`)) return
    const { passed, checks } = await sandbox.post<ProbeReport>(`/webhooks/${id}/probe`)
    out.result({ webhook: id, url, passed, checks }, () => [
      ...formatTable(checks, PROBE_COLUMNS, out),
      '',
      passed ? `${url} passed every check.` : `${url} failed a check.`,
    ])
    if (!passed) out.leaveWith('difference')
  },
)

const PROBE_COLUMNS: Column<ProbeCheck>[] = [
  { title: 'SENT', value: ({ name }) => name },
  { title: 'EXPECTED', value: ({ expected }) => expected },
  { title: 'ANSWER', value: ({ status, error }) => status ?? error },
  { title: 'RIGHT', value: ({ passed }) => (passed ? 'yes' : 'no'), style: ({ passed }) => (passed ? 'green' : 'red') },
]

/** `upshot sandbox audit`: mistakes of clients, newest first. Exits with 7 if there are any. */
export const audit = sandboxCommand(
  (command) =>
    command
      .option('--requests', 'list the requests to the Files API instead')
      .option('--limit <n>', 'maximum number of rows, 1 to 10000', countUpTo(10_000), 20),
  async ({ out, sandbox }, { requests = false, limit }) => {
    const read = async <Row>(path: string) => (await sandbox.get<Row[]>(path)).slice(-limit).reverse()
    if (requests) return showRows(out, await read<JournalEntry>('/journal'), REQUEST_COLUMNS, 'No request yet.')
    const findings = await read<Finding>('/audit')
    showRows(out, findings, FINDING_COLUMNS, 'No client has made a mistake.')
    if (findings.length > 0) out.leaveWith('difference')
  },
)

const FINDING_COLUMNS: Column<Finding>[] = [
  { title: 'AT', value: ({ at }) => formatMoment(at) },
  { title: 'RULE', value: ({ rule }) => rule },
  { title: 'KEY', value: ({ keyId }) => keyId },
  { title: 'WHAT', value: ({ message }) => message },
]

const REQUEST_COLUMNS: Column<JournalEntry>[] = [
  { title: 'AT', value: ({ at }) => formatMoment(at) },
  { title: 'OPERATION', value: ({ operation }) => operation },
  { title: 'STATUS', value: ({ status }) => status, style: ({ status }) => (status < 400 ? 'green' : 'red') },
  { title: 'CODE', value: ({ code }) => code },
  { title: 'KEY', value: ({ keyId }) => keyId },
  { title: 'FAULT', value: ({ faultId }) => faultId },
]
