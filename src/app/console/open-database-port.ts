import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Surroundings, Work } from '../../admin/ports/surroundings.ts'
import { UpshotError } from '../../core/errors.ts'
import { randomWord } from '../../core/ids.ts'
import type { Clock } from '../../core/time.ts'
import type { Config } from '../../project/config/load-config.ts'
import { runCommand } from '../preview/child/run-command.ts'

type DatabasePort = Pick<Surroundings, 'verifyLedger' | 'verifyDatabase' | 'backUp' | 'openBackup'>

/** Copies that wait to be fetched, below the data directory. */
const FOLDER = 'backups-to-fetch'
const NAME = /^\w{16}\.db$/
/** How long a backup waits to be fetched. */
const KEPT_MS = 86_400_000
/** The longest that a command works. */
const WITHIN_MS = 24 * 3_600_000
const MAX_BYTES = 4_000_000

/** Work on the whole database, each in a process of its own, so that it holds up nothing here. */
export function openDatabasePort(config: Config, clock: Clock): DatabasePort {
  const folder = join(config.dataDir, FOLDER)
  const run = <Answer>(args: readonly string[], work: Work, input = '') => {
    const bounds = { ...work, input, withinMs: WITHIN_MS, mostBytes: MAX_BYTES, isAside: true }
    return runCommand<Answer>(config, args, bounds)
  }
  return {
    verifyLedger: (anchors, work) =>
      anchors === null
        ? run(['effects', 'verify'], work)
        : run(
            ['effects', 'verify', '--anchors', '-'],
            work,
            anchors.map((each) => `${JSON.stringify(each)}\n`).join(''),
          ),
    verifyDatabase: (work) => run(['db', 'verify'], work),
    async backUp(work) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await removeOld(folder, clock.now())
      const backup = `${randomWord().slice(0, 16)}.db`
      const made = await run<Awaited<ReturnType<DatabasePort['backUp']>>>(['db', 'backup', join(folder, backup)], work)
      const { bytes, rows, anchor } = made
      return { backup, bytes, sha256: await hashFile(join(folder, backup)), rows, anchor }
    },
    async openBackup(name) {
      const file = join(folder, NAME.test(name) ? name : 'none')
      const found = await stat(file).catch(() => null)
      if (found === null) {
        throw new UpshotError('not_found', `There is no backup "${name}".`, {
          fix: 'Make a new one: each is removed once it was fetched, or a day later by the next.',
        })
      }
      async function* chunks() {
        yield* createReadStream(file)
        await rm(file)
      }
      return { type: 'application/vnd.sqlite3', name: 'upshot.db', size: found.size, chunks: chunks() }
    },
  }
}

/** Removes copies that nobody fetched. The next backup removes the part of a killed one itself. */
async function removeOld(folder: string, now: number): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!NAME.test(name)) continue
    const file = join(folder, name)
    const { mtimeMs } = await stat(file)
    if (mtimeMs < now - KEPT_MS) await rm(file, { force: true })
  }
}

async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}
