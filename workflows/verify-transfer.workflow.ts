import { posix } from 'node:path'
import { defineWorkflow, type FileEntry, type FileHash, type FilesApi } from 'upshot'
import { paths } from '../config/paths.ts'
import { verification } from '../config/verification.ts'
import { type Transfer, transferCompleted } from './events.ts'
import { writeJson } from './write-whole.ts'

/** Compares the two files of a completed transfer, and writes a report. */
export default defineWorkflow({
  id: 'verify-transfer',
  on: transferCompleted,
  timeout: { step: '15m' },
  async run({ event, files, step, log }) {
    const { transfer } = event.data
    const findBoth = async () => ({
      sent: await files.find(transfer.source),
      arrived: await files.find(transfer.destination),
    })

    let { sent, arrived } = await findBoth()
    let contents: Contents = 'not compared'
    if (sent && arrived && isComparable(sent) && isComparable(arrived)) {
      contents = compare(await hash(files, sent), await hash(files, arrived))
      // A file may have changed during the comparison; then the transfer is not to blame.
      if (contents !== 'same') ({ sent, arrived } = await findBoth())
    }

    const finding = judge(transfer, sent, arrived, contents)
    log.info(`transfer ${transfer.id}: ${finding.verdict}`, { reason: finding.reason })
    const report = await step.run('write report', () =>
      writeJson(paths.reports, transfer.id, { ...finding, event: event.id, transfer, sent, arrived }),
    )
    return { ...finding, report }
  },
})

type Contents = 'same' | 'different' | 'not compared' | 'not known'

/** The hash of a file as it is now, whatever it was when it was found. */
function hash(files: FilesApi, { service, id }: FileEntry): Promise<FileHash | null> {
  return files.hash({ service, id })
}

/** Two error pages have equal hashes, too. Only a known size proves that a hash is a file's. */
function compare(sent: FileHash | null, arrived: FileHash | null): Contents {
  if (sent?.proof === 'none' || arrived?.proof === 'none') return 'not known'
  return sent !== null && sent.sha256 === arrived?.sha256 ? 'same' : 'different'
}
type Verdict = 'match' | 'mismatch' | 'missing' | 'unverifiable'

function judge(
  transfer: Transfer,
  sent: FileEntry | null,
  arrived: FileEntry | null,
  contents: Contents,
): { verdict: Verdict; reason: string } {
  const found = (verdict: Verdict, reason: string) => ({ verdict, reason })
  if (!arrived) return found('missing', 'there is no file at the destination')
  if (arrived.type === 'folder') return found('unverifiable', 'a folder was transferred, and only files are compared')
  if (contents === 'same') return found('match', 'the contents are the same')
  if (contents === 'not known')
    return found('unverifiable', 'a storage names no size, so nobody knows whether its bytes are the file')
  if (isAfter(arrived.modifiedAt, transfer.finishedAt))
    return found('unverifiable', 'the copy was changed after the transfer')
  if (arrived.size !== transfer.bytesTotal)
    return found('mismatch', `${arrived.size} bytes arrived of ${transfer.bytesTotal}`)
  if (!sent) return found('unverifiable', 'the source is gone; the size is right')
  if (isAfter(sent.modifiedAt, transfer.startedAt))
    return found('unverifiable', 'the source was changed after the transfer began')
  if (contents === 'different' || arrived.size !== sent.size) return found('mismatch', 'the contents differ')
  if (arrived.name !== posix.basename(transfer.destination.path))
    return found('unverifiable', 'the copy was renamed, and the contents are too large to compare')
  return found('match', 'size and name are the same; the contents are too large to compare')
}

function isComparable({ type, size }: FileEntry): boolean {
  return type === 'file' && (size ?? 0) <= verification.maxBytes
}

function isAfter(moment: string | null, other: string | null): boolean {
  return moment !== null && other !== null && Date.parse(moment) > Date.parse(other)
}
