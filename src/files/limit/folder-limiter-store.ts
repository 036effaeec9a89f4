import { randomUUID } from 'node:crypto'
import { link, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type LimiterState, type LimiterStore, OPEN_STATE } from './limiter-store.ts'

/** A key's fingerprint, so that no key leads out of the folder. */
const KEY = /^[0-9a-f]{1,64}$/

/**
 * Keeps limits in a folder, a small file for each key; creates it. Processes of one machine share
 * them without a database.
 */
export function folderLimiterStore(folder: string): LimiterStore {
  return {
    async load(key) {
      for (;;) {
        const version = (await listVersions(folder, key)).at(-1)
        if (version === undefined) return null
        const text = await readFile(pathOf(folder, key, version), 'utf8').catch(nullIfMissing)
        // Another process has saved a later one and removed this one.
        if (text === null) continue
        return { state: parseState(text), version }
      }
    },
    async save(key, state, version) {
      await mkdir(folder, { recursive: true })
      const draft = join(folder, `${requireKey(key)}.${randomUUID()}.draft`)
      await writeFile(draft, JSON.stringify(state), { mode: 0o600 })
      try {
        // A link fails where the file exists: of two savers of one version, one succeeds.
        await link(draft, pathOf(folder, key, version + 1))
      } catch (error) {
        if (isCode(error, 'EEXIST')) return false
        throw error
      } finally {
        await rm(draft, { force: true })
      }
      const versions = await listVersions(folder, key)
      // Ours may fill the gap of one that was removed; then a later one has been saved before.
      if ((versions.at(-1) ?? 0) > version + 1) return false
      for (const older of versions.slice(0, -1)) await rm(pathOf(folder, key, older), { force: true })
      return true
    },
  }
}

/** The saved versions of a key in rising order. */
async function listVersions(folder: string, key: string): Promise<number[]> {
  const names = (await readdir(folder).catch(nullIfMissing)) ?? []
  const start = `${requireKey(key)}.`
  const versions = names.flatMap((name) => {
    const [, digits] = name.startsWith(start) ? (/^(\d+)\.json$/.exec(name.slice(start.length)) ?? []) : []
    return digits === undefined ? [] : [Number(digits)]
  })
  return versions.sort((a, b) => a - b)
}

function pathOf(folder: string, key: string, version: number): string {
  return join(folder, `${requireKey(key)}.${version}.json`)
}

function requireKey(key: string): string {
  if (KEY.test(key)) return key
  throw new Error('a limiter store got a key that is no fingerprint')
}

/** The state in a file; open after a power cut that left half of it. */
function parseState(text: string): LimiterState {
  try {
    return JSON.parse(text)
  } catch {
    return OPEN_STATE
  }
}

function nullIfMissing(error: unknown): null {
  if (isCode(error, 'ENOENT')) return null
  throw error
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
