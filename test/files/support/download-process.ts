import { createFilesClient } from '../../../src/files/index.ts'

/** A process that downloads a file to several paths, prints the hashes, and does nothing to end. */
const [, , baseUrl = '', file = '', ...paths] = process.argv

const files = createFilesClient({ baseUrl, apiKey: 'sk_sandbox_download_key_1' })
for (const to of paths) process.stdout.write(`${(await files.download(JSON.parse(file), { to })).sha256} `)
