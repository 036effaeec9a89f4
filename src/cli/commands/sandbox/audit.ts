import type { Command } from '@commander-js/extra-typings'
import { systemClock } from '../../../core/time.ts'
import type { Finding, JournalEntry } from '../../../sandbox/index.ts'
import type { Cli } from '../../command.ts'
import { countUpTo } from '../../input/parse-option.ts'
import { type Column, formatTable } from '../../terminal/table.ts'
import { atSandbox, findSandbox } from './control/sandbox-control.ts'
import { showTime } from './control/view.ts'

/** `upshot sandbox audit`: mistakes of clients, newest first. Exits with 7 if there are any. */
export function define(command: Command, { out, project }: Cli): void {
  atSandbox(command)
    .option('--requests', 'list the requests to the Files API instead')
    .option('--limit <n>', 'maximum number of rows, 1 to 10000', countUpTo(10_000), 20)
    .action(async ({ requests = false, limit, ...choice }) => {
      const sandbox = await findSandbox(project, choice)
      const now = systemClock.now()
      if (requests) {
        const entries = (await sandbox.get<JournalEntry[]>('/journal')).slice(-limit).reverse()
        out.result(entries, () => formatTable(entries, requestColumns(now), out))
        if (entries.length === 0) out.note('No request yet.')
        return
      }
      const findings = (await sandbox.get<Finding[]>('/audit')).slice(-limit).reverse()
      out.result(findings, () => formatTable(findings, findingColumns(now), out))
      if (findings.length === 0) out.note('No client has made a mistake.')
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
