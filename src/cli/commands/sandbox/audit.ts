import type { Command } from '@commander-js/extra-typings'
import { systemClock } from '../../../core/time.ts'
import type { Finding, JournalEntry } from '../../../sandbox/index.ts'
import { countUpTo } from '../../input/parse-option.ts'
import type { Output } from '../../terminal/output.ts'
import { type Column, formatTable } from '../../terminal/table.ts'
import { atSandbox, findSandbox } from './control/sandbox-control.ts'
import { showTime } from './control/view.ts'

/**
 * `upshot sandbox audit`: newest first. Leaves with 7 where a client did something wrong, so that a
 * test run can fail on it.
 */
export function define(command: Command, out: Output): void {
  atSandbox(command)
    .option('--requests', 'every request of the Files API instead')
    .option('--limit <n>', 'how many', countUpTo(10_000), 20)
    .action(async ({ requests = false, limit, ...choice }) => {
      const sandbox = await findSandbox(choice)
      const now = systemClock.now()
      if (requests) {
        const entries = (await sandbox.get<JournalEntry[]>('/journal')).slice(-limit).reverse()
        out.result(entries, () => formatTable(entries, requestColumns(now), out.paint))
        if (entries.length === 0) out.note('No request came yet.')
        return
      }
      const findings = (await sandbox.get<Finding[]>('/audit')).slice(-limit).reverse()
      out.result(findings, () => formatTable(findings, findingColumns(now), out.paint))
      if (findings.length === 0) out.note('No client did anything wrong.')
      else out.leaveWith('difference')
    })
}

function findingColumns(now: number): Column<Finding>[] {
  return [
    { title: 'AT', value: ({ at }) => showTime(at, now) },
    { title: 'RULE', value: ({ rule }) => rule },
    { title: 'KEY', value: ({ keyId }) => keyId },
    { title: 'WHAT', value: ({ message }) => message },
  ]
}

function requestColumns(now: number): Column<JournalEntry>[] {
  return [
    { title: 'AT', value: ({ at }) => showTime(at, now) },
    { title: 'OPERATION', value: ({ operation }) => operation },
    { title: 'STATUS', value: ({ status }) => status, style: ({ status }) => (status < 400 ? 'green' : 'red') },
    { title: 'CODE', value: ({ code }) => code },
    { title: 'KEY', value: ({ keyId }) => keyId },
    { title: 'FAULT', value: ({ faultId }) => faultId },
  ]
}
