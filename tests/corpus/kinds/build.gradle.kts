plugins {
    kotlin("jvm") version "1.9.20"
    application
}

val ktorVersion: String by project

fun readBuildNumber(): Int =
    System.getenv("BUILD_NUMBER")?.toInt() ?: 0

dependencies {
    implementation("io.ktor:ktor-server-core:$ktorVersion")
}

val generateDocs by tasks.registering(JavaExec::class) {
    mainClass.set("docs.Main")
}

tasks.register<Copy>("stageFiles") {
    from("src/static")
    into(layout.buildDirectory.dir("stage"))
}

tasks.create("printNumber") {
    doLast { println(readBuildNumber()) }
}

abstract class ChecksumTask : DefaultTask() {
    @get:Input
    abstract val algorithm: Property<String>

    @TaskAction
    fun compute() {
        println(algorithm.get())
    }
}
