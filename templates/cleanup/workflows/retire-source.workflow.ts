import { rm } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { defineWorkflow, type FileDetails, type FilesApi, type RunContext, StepError } from 'upshot'
import { cleanup } from '../config/cleanup.ts'
import { transferCompleted } from './events.ts'

/**
 * Deletes the source of a transfer once its copy has the same content, and the same size
 * after the grace. In all other cases it keeps the source, and the result says why.
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

    const sent = await findDetails(files, source)
    if (!sent) return keep('the source is gone already')
    if (sent.path !== source.path) return keep('the source was moved')
    if (sent.size === null) return keep('its size is not known, so nothing proves its bytes')
    if (sent.size > cleanup.maxBytes) return keep('it is too large to compare')
    if (!(await isSameContent(context, sent, await findDetails(files, destination))))
      return keep('the copy is not the same')

    await step.sleep('grace', cleanup.grace)
    const copy = await findDetails(files, destination)
    if (copy?.size !== sent.size) return keep('the copy did not stay as it was')

    if (cleanup.isRehearsal) {
      log.info(`would delete ${sent.service}:${sent.path}`)
      return keep('this is a rehearsal: CLEANUP_DELETES is not "yes"')
    }
    // `expect` deletes the source only while it is the file that was compared.
    const { outcome } = await files.delete(sent, { expect: sent })
    log.info(`${sent.service}:${sent.path} ${outcome}`)
    if (outcome === 'changed') return keep('the source was changed during the grace')
    if (outcome === 'dry_run') return keep('the Files client is set to rehearse')
    return { decision: 'deleted' as const, outcome }
  },
})

function keep(why: string) {
  return { decision: 'kept' as const, why }
}

function isBelow(path: string, folders: readonly string[]): boolean {
  return folders.some((parent) => path.startsWith(posix.join(parent, '/')))
}

/** Current details of a file; null where the service has none. */
async function findDetails(
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

/** SHA-256 of a file. The download is a step: a crash does not repeat a finished one. */
async function hashOf({ files, step, run }: Tools, which: string, file: FileDetails): Promise<string> {
  const to = join(cleanup.workFolder, run.id, which)
  const { sha256 } = await files.download(file, { to })
  await step.run(['clean up', which], () => rm(to, { force: true }))
  return sha256
}
