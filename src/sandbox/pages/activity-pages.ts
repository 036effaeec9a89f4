import { FAULT_TARGETS, type Fault } from '../faults/fault-rule.ts'
import type { SandboxParts } from '../service/sandbox-parts.ts'
import type { TransferRecord } from '../transfers/transfer-table.ts'
import { type Content, foreign, foreignJson, type Html, html } from './html.ts'
import {
  callForm,
  choice,
  field,
  jsonField,
  layout,
  moment,
  placeFields,
  section,
  size,
  state,
  table,
} from './layout.ts'

const MAX_SHOWN = 100

/** The newest 100 transfers, newest first, and a form that starts one. */
export function transfersPage(parts: SandboxParts): Html {
  const newest = parts.transfers.list().slice(-MAX_SHOWN).reverse()
  return layout('/account/transfers', [
    table(
      ['Transfer', 'From', 'To', 'State', 'Files', 'Bytes', 'Ended', ''],
      newest.map(transferRow),
      'There is no transfer yet.',
    ),
    section(
      'Start a transfer',
      callForm({ method: 'POST', path: '/_sandbox/transfers' }, 'Start', [
        placeFields('From: a file or a folder', 'from', ['storage_a', '/in']),
        placeFields('To: a path, or a folder ending in /', 'to', ['storage_b', '/archive/']),
        choice('Existing files', 'existing', ['replace', 'keep']),
        field('Fail after this share of the bytes (0 to 1)', 'failAt', { kind: 'number' }),
      ]),
    ),
  ])
}

/** The faults that are set, and forms that set one. */
export function faultsPage(parts: SandboxParts): Html {
  const faults = parts.faults.list()
  return layout('/account/faults', [
    table(['Fault', 'On', 'Rule', 'Matched', 'Struck', 'State', ''], faults.map(faultRow), 'No fault is set.'),
    section(
      'Fail calls with a status',
      callForm({ method: 'POST', path: '/_sandbox/faults' }, 'Set', [
        choice('On', 'on', ['*', ...FAULT_TARGETS.filter((target) => target !== 'delivery')]),
        field('Status', 'status', { value: '503', kind: 'number', required: true }),
        field('Times (empty: no limit)', 'times', { value: '2', kind: 'number' }),
      ]),
    ),
    section('Set any other fault', [
      html`<p class="quiet small">Calls: latencyMs, status, reset, garbage, html, cutAfterBytes, stallAfterBytes,
bytesPerSecond, contradictRateHeaders, afterwards. Deliveries: type, drop, duplicate, delayMs, reorder, signature,
tamper. Both: times, probability, skip.</p>`,
      callForm(
        { method: 'POST', path: '/_sandbox/faults' },
        'Set',
        jsonField('Rule as JSON', '', '{"on":"delivery","signature":"bad","probability":0.2}'),
      ),
    ]),
    faults.length > 0 &&
      callForm({ method: 'DELETE', path: '/_sandbox/faults', confirm: 'Clear every fault?' }, 'Clear all faults'),
  ])
}

/** The newest findings and requests, newest first. */
export function auditPage(parts: SandboxParts): Html {
  const findings = parts.audit.findings().slice(-MAX_SHOWN).reverse()
  const requests = parts.audit.requests().slice(-MAX_SHOWN).reverse()
  return layout('/account/audit', [
    html`<h2>Findings</h2>`,
    table(
      ['When', 'Rule', 'Key', 'Message'],
      findings.map(({ at, rule, keyId, message }) => [moment(at), rule, keyId ?? '–', foreign(message)]),
      'No client has broken a rule.',
    ),
    html`<h2>Requests</h2>`,
    table(
      ['When', 'Operation', 'Key', 'Status', 'Code', 'Fault'],
      requests.map(({ at, operation, keyId, status, code, faultId }) => {
        const shown = state(status < 400 ? 'completed' : 'failed', String(status))
        return [moment(at), operation, keyId ?? '–', shown, code ?? '–', faultId ?? '–']
      }),
      'There is no request yet.',
    ),
  ])
}

function transferRow(transfer: TransferRecord): Content[] {
  const isOpen = transfer.status === 'queued' || transfer.status === 'running'
  return [
    html`<code>${transfer.id}</code>`,
    [`${transfer.source.service}:`, foreign(transfer.source.path)],
    [`${transfer.destination.service}:`, foreign(transfer.destination.path)],
    [
      state(STATES[transfer.status], transfer.status),
      transfer.error && html`<span class="below">${foreign(transfer.error.message)}</span>`,
    ],
    `${transfer.filesDone} of ${transfer.filesTotal}`,
    [size(transfer.bytesDone), ' of ', size(transfer.bytesTotal)],
    moment(transfer.finishedAt),
    isOpen &&
      callForm({ method: 'POST', path: `/_sandbox/transfers/${transfer.id}/cancel`, about: transfer.id }, 'Cancel'),
  ]
}

const STATES = {
  queued: 'waiting',
  running: 'waiting',
  completed: 'completed',
  failed: 'failed',
  canceled: 'failed',
} as const

function faultRow({ id, on, seen, struck, ...rule }: Fault): Content[] {
  const { times, probability, skip, ...effect } = rule
  const isUsedUp = times !== null && struck >= times
  return [
    id,
    on,
    [
      html`<code>${foreignJson(effect)}</code>`,
      html`<span class="below">${describeWhen({ times, probability, skip })}</span>`,
    ],
    seen,
    struck,
    isUsedUp ? state('idle', 'used up') : state('waiting', 'set'),
    callForm({ method: 'DELETE', path: `/_sandbox/faults/${id}`, about: id }, 'Remove'),
  ]
}

/** How often a fault strikes, in words. */
function describeWhen({ times, probability, skip }: Pick<Fault, 'times' | 'probability' | 'skip'>): string {
  const often = times === null ? 'without end' : times === 1 ? 'once' : `${times} times`
  const chance = probability === 1 ? '' : `, with probability ${probability}`
  return `${often}${chance}${skip === 0 ? '' : `, after ${skip} calls`}`
}
