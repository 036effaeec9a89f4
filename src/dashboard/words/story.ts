/** The address of the story of a file, a path or a transfer. */
export function storyOf(subject: string): string {
  return `/story?of=${encodeURIComponent(subject)}`
}
