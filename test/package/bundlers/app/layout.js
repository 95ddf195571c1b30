// biome-ignore lint/style/noDefaultExport: Next looks for it
export default function Layout({ children }) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  )
}
