import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/*
 * The bundle holds this module in `dist/chunks`. It tells its other modules where they would be in
 * `dist`, had they files of their own.
 */

export const $url = (file: string) => new URL(`../${file}`, import.meta.url).href
export const $dirname = (file: string) => dirname(fileURLToPath($url(file)))
