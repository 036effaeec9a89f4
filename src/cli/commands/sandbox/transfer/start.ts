import { setTimeout as after } from 'node:timers/promises'
import { type Command, Option } from '@commander-js/extra-typings'
import { InvalidArgumentError } from 'commander'
import type { TransferRecord } from '../../../../sandbox/index.ts'
import type { Cli } from '../../../command.ts'
import { formatBytes } from '../../../terminal/format-value.ts'
import { onInterrupt } from '../../../terminal/on-interrupt.ts'
import type { Output } from '../../../terminal/output.ts'
import { showProgress } from '../../../terminal/progress.ts'
import { parseSandboxPlace } from '../control/place.ts'
import { atSandbox, findSandbox, isRehearsal, type SandboxControl } from '../control/sandbox-control.ts'
import { describeEnd, describeProgress } from '../control/view.ts'

const POLL_EVERY_MS = 100

/**
 * `upshot sandbox transfer start <from> <to>`: starts a transfer and waits for its end. Exits with
 * 7 unless it completes.
 */
export function define(command: Command, { out, project }: Cli): void {
  atSandbox(command)
    .argument('<from>', 'file or folder to transfer, such as storage_a:/in', parseSandboxPlace)
    .argument('<to>', 'target path; a path that ends in / is the folder to put it into', parseSandboxPlace)
    .option(
      '--fail-at <part>',
      'fail after this part of the bytes, from 0 (at once) to 1 (just before the end)',
      parsePart,
    )
    .addOption(
      new Option('--existing <what>', 'what to do with existing files')
        .choices(['replace', 'keep'])
        .default('replace' as const),
    )
    .option('--detach', 'do not wait for the end')
    .addHelpText('after', '\nCtrl-C cancels it. Files that were transferred completely are kept.')
    .action(async (from, to, { failAt = null, existing, detach = false, ...choice }) => {
      const sandbox = await findSandbox(project, choice)
      if (isRehearsal(out, `transfer ${from.storage}:${from.path} to ${to.storage}:${to.path}`)) return
      const signal = onInterrupt()
      const started = await sandbox.post<TransferRecord>('/transfers', {
        ...{ from: [from.storage, from.path], to: [to.storage, to.path], failAt, existing },
      })
      const record = detach ? started : await follow(sandbox, started, { out, signal })
      out.result(record, () => formatTransfer(record))
      if (signal.aborted) out.leaveWith('interrupted')
      else if (record.status === 'failed' || record.status === 'canceled') out.leaveWith('difference')
    })
}

async function follow(
  sandbox: SandboxControl,
  started: TransferRecord,
  { out, signal }: { out: Output; signal: AbortSignal },
): Promise<TransferRecord> {
  using progress = showProgress(out, { title: 'Transferring', total: started.bytesTotal, unit: 'bytes' })
  let record = started
  let isCanceled = false
  while (record.status === 'queued' || record.status === 'running') {
    if (signal.aborted && !isCanceled) {
      isCanceled = true
      // If it has just ended, the record below says how.
      await sandbox.post(`/transfers/${record.id}/cancel`).catch(() => null)
    }
    record = await sandbox.get<TransferRecord>(`/transfers/${record.id}`)
    progress.set(record.bytesDone)
    if (record.finishedAt === null) await after(POLL_EVERY_MS)
  }
  return record
}

function formatTransfer(record: TransferRecord): string[] {
  const { id, source, destination, filesDone, filesTotal, bytesDone, bytesTotal } = record
  return [
    `${id}  ${describeEnd(source)} → ${describeEnd(destination)}  ${describeProgress(record)}`,
    `${filesDone} of ${filesTotal} files, ${formatBytes(bytesDone)} of ${formatBytes(bytesTotal)}`,
  ]
}

function parsePart(text: string): number {
  if (/^(0|1|0?\.\d{1,9}|1\.0*)$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Give a number from 0 to 1.')
}
