import { pageKey } from './page-key.ts'

/** Saves an answer as a file of the browser. Throws where the API refuses. */
export async function saveAnswer(url: string, name: string): Promise<void> {
  const response = await fetch(url, { headers: { 'X-Upshot': pageKey.read() ?? '' }, credentials: 'same-origin' })
  if (!response.ok) throw new Error(`The app answered ${response.status}.`)
  const link = document.createElement('a')
  link.href = URL.createObjectURL(await response.blob())
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
