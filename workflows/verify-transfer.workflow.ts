import { posix } from 'node:path'
import { defineWorkflow, type FileEntry } from 'upshot'
import { paths } from '../config/paths.ts'
import { verification } from '../config/verification.ts'
import { type Transfer, transferCompleted } from './events.ts'
import { writeJson } from './write-whole.ts'

/** Compares what arrived with what was sent, and writes a report named by the transfer's id. */
export default defineWorkflow({
  id: 'verify-transfer',
  on: transferCompleted,
  timeout: { step: '15m' },
  async run({ event, files, step, log }) {
    const { transfer } = event.data
    const look = async () => ({
      sent: await files.find(transfer.source),
      arrived: await files.find(transfer.destination),
    })

    let { sent, arrived } = await look()
    let contents: Contents = 'not compared'
    if (sent && arrived && isComparable(sent) && isComparable(arrived)) {
      const hash = await files.hash(sent)
      const isSame = hash !== null && hash.sha256 === (await files.hash(arrived))?.sha256
      contents = isSame ? 'same' : 'different'
      // One of them may have been changed or deleted just now; then the transfer is not to blame.
      if (!isSame) ({ sent, arrived } = await look())
    }

    const finding = judge(transfer, sent, arrived, contents)
    log.info(`transfer ${transfer.id}: ${finding.verdict}`, { reason: finding.reason })
    const report = await step.run('write report', () =>
      writeJson(paths.reports, transfer.id, { ...finding, event: event.id, transfer, sent, arrived }),
    )
    return { ...finding, report }
  },
})

type Contents = 'same' | 'different' | 'not compared'
type Verdict = 'match' | 'mismatch' | 'missing' | 'unverifiable'

function judge(
  transfer: Transfer,
  sent: FileEntry | null,
  arrived: FileEntry | null,
  contents: Contents,
): { verdict: Verdict; reason: string } {
  const find = (verdict: Verdict, reason: string) => ({ verdict, reason })
  if (!arrived) return find('missing', 'there is no file at the destination')
  if (arrived.type === 'folder') return find('unverifiable', 'a folder was transferred, and only files are compared')
  if (contents === 'same') return find('match', 'the contents are the same')
  if (isAfter(arrived.modifiedAt, transfer.finishedAt)) return find('unverifiable', 'the copy was changed since')
  if (arrived.size !== transfer.bytesTotal)
    return find('mismatch', `${arrived.size} bytes arrived of ${transfer.bytesTotal}`)
  if (!sent) return find('unverifiable', 'the source is gone; the size is right')
  if (isAfter(sent.modifiedAt, transfer.startedAt)) return find('unverifiable', 'the source was changed since')
  if (contents === 'different' || arrived.size !== sent.size) return find('mismatch', 'the contents differ')
  if (arrived.name !== posix.basename(transfer.destination.path))
    return find('unverifiable', 'the copy was renamed, and is too large to compare the contents')
  return find('match', 'size and name are the same; it is too large to compare the contents')
}

function isComparable({ type, size }: FileEntry): boolean {
  return type === 'file' && (size ?? 0) <= verification.largestBytes
}

function isAfter(moment: string | null, other: string | null): boolean {
  return moment !== null && other !== null && Date.parse(moment) > Date.parse(other)
}
