import type { Entry, Sandbox } from '../../sandbox/index.ts'

type SandboxStorage = ReturnType<Sandbox['storage']>

/** A storage of the sandbox, as whoever sits in front of it uses it. */
export interface TestStorage {
  /** Writes a file, making the folders above it. */
  put(path: string, content: string | Uint8Array): Promise<Entry>
  /** The bytes of a file; throws `not_found`. */
  get(path: string): Promise<Buffer>
  /** Everything in a folder and below it, in order of path; default `/`. */
  list(folder?: string): Promise<Entry[]>
  /** Deletes a file, or a folder with everything in it; throws `not_found`. */
  remove(path: string): Promise<void>
}

/** A storage that is opened with the first call. */
export function openTestStorage(open: () => Promise<SandboxStorage>): TestStorage {
  return {
    put: async (path, content) => (await open()).put(path, content),
    get: async (path) => (await open()).read(path),
    remove: async (path) => (await open()).remove(path),
    async list(folder = '/') {
      const above = folder.endsWith('/') ? folder : `${folder}/`
      return (await open()).list().filter((entry) => entry.path.startsWith(above))
    },
  }
}
