import { registerHooks } from 'node:module'
import { sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const VERSION = 'upshot-version'
/** Our own files are never loaded twice: errors of one copy would be strangers to the other. */
const OWN = new URL('../../', import.meta.url).href

const imported = new Set<string>()
let isHooked = false

/**
 * Imports a module, and every file of the project that it imports, as they are on disk now. Node
 * keeps each address that it has loaded for ever, so each version has addresses of its own; the
 * former ones stay in memory, which is why only development does this.
 */
export async function importFresh(url: string, version: string): Promise<{ default?: unknown }> {
  hook()
  imported.add(fileURLToPath(url))
  return import(`${url}?${VERSION}=${version}`)
}

/** Paths of the project's files that were imported this way, in whatever version. */
export function listImported(): string[] {
  return [...imported]
}

/** Hands the version of an importing file on to what it imports. */
function hook(): void {
  if (isHooked) return
  isHooked = true
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const resolved = nextResolve(specifier, context)
      const version = context.parentURL?.startsWith('file:') && new URL(context.parentURL).searchParams.get(VERSION)
      if (!version || !isOfProject(resolved.url)) return resolved
      imported.add(fileURLToPath(resolved.url))
      return { ...resolved, url: `${resolved.url}?${VERSION}=${version}` }
    },
  })
}

function isOfProject(url: string): boolean {
  if (!url.startsWith('file:') || url.startsWith(OWN) || url.includes('?')) return false
  return !fileURLToPath(url).includes(`${sep}node_modules${sep}`)
}
