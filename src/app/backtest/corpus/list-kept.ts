import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Words that verbs, answers of the service and files bring along. */
const OF_OURS = [
  'files get find list snapshot hash delete deleteAll download downloadUrl withDownload exists',
  'outcome deleted changed not found proof reply none true false null undefined default',
  'id name path type file folder size bytes sha256 service mimeType createdAt modifiedAt items cursor total',
]

/** Texts whose words tell nothing of an event: ours, and those of the modules in a folder. */
export function listKept(workflowsDir: string): string[] {
  const modules = readdirSync(workflowsDir, { recursive: true, encoding: 'utf8' }).filter((name) => {
    return /\.[cm]?[jt]s$/.test(name) && !/\.test\.|node_modules/.test(name)
  })
  return [...OF_OURS, ...modules.map((name) => readFileSync(join(workflowsDir, name), 'utf8'))]
}
