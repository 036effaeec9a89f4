import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileRef, RunContext } from 'upshot'
import { paths } from '../config/paths.ts'
import { isGone } from './find-file.ts'

/** SHA-256 (hex) of a file's content; null when the file is gone. Leaves nothing on this machine. */
export async function hashContent(
  { files, step, run }: Pick<RunContext, 'files' | 'step' | 'run'>,
  { service, id }: FileRef,
): Promise<string | null> {
  const folder = join(paths.work, run.id)
  try {
    const { sha256 } = await files.download({ service, id }, { to: join(folder, 'content') })
    return sha256
  } catch (error) {
    if (isGone(error)) return null
    throw error
  } finally {
    // Not reached while the run waits for another attempt, which goes on where the last one broke off.
    await step.run(['clean up', `${service}:${id}`], () => rm(folder, { recursive: true, force: true }))
  }
}
