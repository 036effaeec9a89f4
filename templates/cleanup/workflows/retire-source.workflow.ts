import { rm } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { defineWorkflow, type FileDetails, type FilesApi, type RunContext, StepError } from 'upshot'
import { cleanup } from '../config/cleanup.ts'
import { transferCompleted } from './events.ts'

/**
 * Deletes the source of a transfer once its copy is proven: same size, same content, twice, with
 * the grace between. What is not exactly as expected is kept, and the result says why.
 */
export default defineWorkflow({
  id: 'retire-source',
  on: transferCompleted,
  where: ({ data }) => isBelow(data.transfer.source.path, cleanup.folders),
  timeout: { step: '15m' },
  async run(context) {
    const { event, files, step, log } = context
    const { source, destination } = event.data.transfer
    if (source.service === destination.service && source.id === destination.id) return keep('it is its own copy')

    const sent = await look(files, source)
    if (!sent) return keep('the source is gone already')
    if (sent.path !== source.path) return keep('the source was moved')
    if ((sent.size ?? 0) > cleanup.largestBytes) return keep('it is too large to compare')
    if (!(await isSameContent(context, sent, await look(files, destination)))) return keep('the copy is not the same')

    await step.sleep('grace', cleanup.grace)
    const copy = await look(files, destination)
    if (copy?.size !== sent.size) return keep('the copy did not stay as it was')

    if (cleanup.isRehearsal) {
      log.info(`would delete ${sent.service}:${sent.path}`)
      return keep('this is a rehearsal: CLEANUP_DELETES is not "yes"')
    }
    // Only while the source is what was compared: a file that changed in the meantime is another
    // file.
    const { outcome } = await files.delete(sent, { expect: sent })
    log.info(`${sent.service}:${sent.path} ${outcome}`)
    if (outcome === 'changed') return keep('the source was changed meanwhile')
    if (outcome === 'dry_run') return keep('the Files client only rehearses')
    return { decision: 'deleted' as const, outcome }
  },
})

function keep(why: string) {
  return { decision: 'kept' as const, why }
}

function isBelow(path: string, folders: readonly string[]): boolean {
  return folders.some((parent) => path.startsWith(posix.join(parent, '/')))
}

/** The entry as it is now; null when the service says that there is none. */
async function look(
  files: FilesApi,
  file: { service: FileDetails['service']; id: string },
): Promise<FileDetails | null> {
  try {
    return await files.get(file)
  } catch (error) {
    if (error instanceof StepError && error.failure.name === 'NotFoundError' && error.failure.code) return null
    throw error
  }
}

type Tools = Pick<RunContext, 'files' | 'step' | 'run'>

async function isSameContent(tools: Tools, sent: FileDetails, copy: FileDetails | null): Promise<boolean> {
  if (!copy || copy.size !== sent.size) return false
  return (await hashOf(tools, 'sent', sent)) === (await hashOf(tools, 'copy', copy))
}

/**
 * SHA-256 of a file's content. The download is a step of its own, so a crash does not repeat a
 * finished one.
 */
async function hashOf({ files, step, run }: Tools, which: string, file: FileDetails): Promise<string> {
  const to = join(cleanup.workFolder, run.id, which)
  const { sha256 } = await files.download(file, { to })
  await step.run(['clean up', which], () => rm(to, { force: true }))
  return sha256
}
