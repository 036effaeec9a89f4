import type { Entry, Sandbox } from '../../sandbox/index.ts'

type SandboxStorage = ReturnType<Sandbox['storage']>

/** A storage as its user sees it. */
export interface TestStorage {
  /** Writes a file and the folders above it. */
  put(path: string, content: string | Uint8Array): Promise<Entry>
  /** The bytes of a file. Throws `not_found`. */
  get(path: string): Promise<Buffer>
  /** Everything beneath a folder, in order of path. Default `/`. */
  list(folder?: string): Promise<Entry[]>
  /** Deletes a file, or a folder with everything in it. Throws `not_found`. */
  remove(path: string): Promise<void>
}

/** A storage that opens with its first call. */
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
