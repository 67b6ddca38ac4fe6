@echo off
setlocal EnableDelayedExpansion

rem settings
set TARGET_DIR=C:\sites\club
set /a RETRIES=3
if "%1"=="" goto usage
if /i "%1"=="clean" goto :clean_target

:copy_files
xcopy /s /y build "%TARGET_DIR%"
if errorlevel 1 call :report_failure copy
goto :eof

:clean_target
rmdir /s /q "%TARGET_DIR%"
goto copy_files

:: this is a comment label
:report_failure
echo step %1 failed
exit /b 1

:usage
echo usage: deploy.bat [clean]
endlocal
