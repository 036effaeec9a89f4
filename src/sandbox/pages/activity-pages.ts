import { FAULT_TARGETS, type Fault } from '../fault-rule.ts'
import type { Service } from '../service.ts'
import type { TransferRecord } from '../transfer-record.ts'
import { type Content, type Html, html } from './html.ts'
import { callForm, choice, field, layout, moment, table } from './layout.ts'

const MOST_SHOWN = 100

/** What is being copied and what was, newest first. */
export function transfersPage(service: Service): Html {
  const newest = service.transfers.list().slice(-MOST_SHOWN).reverse()
  return layout('/account/transfers', [
    table(
      ['Transfer', 'From', 'To', 'State', 'Bytes', 'Ended', ''],
      newest.map(transferRow),
      'Nothing was transferred yet.',
    ),
    html`<h2>Start a transfer</h2>`,
    callForm({ method: 'POST', path: '/_sandbox/transfers' }, 'Start', [
      field('From, as [storage, path]', 'from', { value: '["storage_a","/in/report.pdf"]', kind: 'json' }),
      field('To, as [storage, path]', 'to', { value: '["storage_b","/archive/"]', kind: 'json' }),
      field('Fail after this part of it (0 to 1)', 'failAt', { kind: 'number' }),
    ]),
  ])
}

/** What goes wrong on purpose. */
export function faultsPage(service: Service): Html {
  return layout('/account/faults', [
    table(
      ['Fault', 'On', 'Rule', 'Could strike', 'Struck', ''],
      service.faults.list().map(faultRow),
      'Nothing is set to go wrong.',
    ),
    html`<h2>Let a status come back</h2>`,
    callForm({ method: 'POST', path: '/_sandbox/faults' }, 'Set', [
      choice('On', 'on', ['*', ...FAULT_TARGETS]),
      field('Status', 'status', { value: '503', kind: 'number' }),
      field('Times', 'times', { value: '2', kind: 'number' }),
    ]),
    html`<h2>Let something else go wrong</h2>`,
    callForm(
      { method: 'POST', path: '/_sandbox/faults' },
      'Set',
      field('Rule as JSON', '', { value: '{"on":"delivery","signature":"bad","probability":0.2}', kind: 'json' }),
    ),
    callForm({ method: 'DELETE', path: '/_sandbox/faults' }, 'Clear all'),
  ])
}

/** What clients did, and what they should not have done. */
export function auditPage(service: Service): Html {
  const findings = service.audit.findings().slice(-MOST_SHOWN).reverse()
  const requests = service.audit.requests().slice(-MOST_SHOWN).reverse()
  return layout('/account/audit', [
    html`<h2>Findings</h2>`,
    table(
      ['When', 'Rule', 'Key', 'What'],
      findings.map(({ at, rule, keyId, message }) => [moment(at), rule, keyId ?? '–', message]),
      'No client did anything wrong.',
    ),
    html`<h2>Requests</h2>`,
    table(
      ['When', 'Operation', 'Key', 'Status', 'Code', 'Fault'],
      requests.map(({ at, operation, keyId, status, code, faultId }) => {
        return [moment(at), operation, keyId ?? '–', status, code ?? '', faultId ?? '']
      }),
      'No request came yet.',
    ),
  ])
}

function transferRow(transfer: TransferRecord): Content[] {
  const isOpen = transfer.status === 'queued' || transfer.status === 'running'
  return [
    html`<code>${transfer.id}</code>`,
    `${transfer.source.service} ${transfer.source.path}`,
    `${transfer.destination.service} ${transfer.destination.path}`,
    transfer.error ? `${transfer.status}: ${transfer.error.message}` : transfer.status,
    `${transfer.bytesDone} of ${transfer.bytesTotal}`,
    moment(transfer.finishedAt),
    isOpen && callForm({ method: 'POST', path: `/_sandbox/transfers/${transfer.id}/cancel` }, 'Cancel'),
  ]
}

function faultRow({ id, on, seen, struck, ...rule }: Fault): Content[] {
  return [
    id,
    on,
    html`<code>${JSON.stringify(rule)}</code>`,
    seen,
    struck,
    callForm({ method: 'DELETE', path: `/_sandbox/faults/${id}` }, 'Remove'),
  ]
}
