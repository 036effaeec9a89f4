import { registerHooks } from 'node:module'
import { sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const VERSION = 'upshot-version'
/** Files of Upshot itself are loaded once: `instanceof` fails between two copies of a class. */
const OWN = new URL('../../', import.meta.url).href

const imported = new Set<string>()
let isHooked = false

/**
 * Imports a module and the project's files that it imports as they are on disk now. Node never
 * unloads a version, so only development may call this.
 */
export async function importFresh(url: string, version: string): Promise<{ default?: unknown }> {
  hook()
  imported.add(fileURLToPath(url))
  return import(`${url}?${VERSION}=${version}`)
}

/** Paths of all project files that `importFresh` has loaded, in any version. */
export function listImported(): string[] {
  return [...imported]
}

/** Adds the version of an importing file to the URLs of its imports. */
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
